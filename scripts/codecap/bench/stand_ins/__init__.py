"""Stand-ins for what costs: plugins that give real rows and files at once, and sleep, eat memory or die on request.

They are laid into a copy of the project (see `codecap.bench.stand_in_project`) under the name `stand_in`; the workflow around them,
its records and its store are the real ones. What they are to do is in `requests.json` at the top of that copy, and the result does
not depend on it: a request enters no key of the store.
"""

NAME = "stand_in"  # of each of them among the plugins of its family
