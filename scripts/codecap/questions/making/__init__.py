"""New questions about clips, as CapQuiz makes them: written by models that see a clip, tried by others blind, thinned, reviewed.

`writing` over-generates, `blind` finds what can be answered without the clip, `grouping` keeps the hardest of those that ask for
the same, `reviewing` hands the rest to people and takes their word. `course` goes through the first three.
"""
