"""What the encoders share: where a network runs, how pictures come to it, how checkpoints are opened, what a vector is."""
