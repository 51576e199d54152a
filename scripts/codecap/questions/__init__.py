"""Questions about clips: does what a system made of a clip keep what is needed to answer them?

`sets` says what a question is, `formats` and `importing` take over published sets, `making` makes new ones. `settings` and
`planned` say what a run asks, `asking` and `answering` ask it, `metrics` counts.
"""
