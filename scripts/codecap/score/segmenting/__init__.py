"""What the embedded segmenter and prompter know: how an object looks, where it is in a picture, how it goes on."""
