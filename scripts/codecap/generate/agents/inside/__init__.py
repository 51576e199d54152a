"""Programs that agents find on their PATH inside the sandbox. They are started as files, need nothing but Python, and import only
one another; `frames` needs PyAV too."""
