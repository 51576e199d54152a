"""What segmenters that find masks share: prompts on a clip's frames, frames for a model both ways, masks as boxes and as text."""
