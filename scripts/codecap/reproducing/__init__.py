"""Published numbers, computed again from what they were made of, and why one comes out otherwise.

The comparison notes what its numbers are made of; `codecap reproduce` makes them again and looks whether it is still so:

    sealing      the note: results/7_compare/artefacts.json
    cells        which number is meant, `vtrace/kss` or `vtrace/kss/A_001`
    folder       what a run's folder holds: what was published, and the rows of all stages
    recomputing  a video's value again, by the code that is here, in a store of its own; nobody is asked anything
    changes      what is not as it was when the number was made
    verdicts     the number again beside the published one, in words
"""
