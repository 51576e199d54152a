"""How videos are shown to multimodal models: frames of one global grid, single or in grids that keep every frame, times in words.

Judges, prompters and generation share it, so that what a judge sees of a clip is what the captioning model has seen.
"""
