"""A video as a page of SVG paths: background plates, cut-outs that lie or move on them, and the page that shows them in time."""
