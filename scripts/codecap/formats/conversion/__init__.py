"""What the formats share: bounded reading, frames of one rate to frames of another, key frames, objects, merging."""
