"""Which metric sees what? Clips damaged in grades of eight kinds, and each metric's response to every grade.

`snakemake validity` makes it of the demo's clips, by the backends of the run:

    demo        the clips that are damaged
    damages     the kinds and their grades, and the frames of a damaged clip
    wording     wrong words: the clip's own page, drawn with other letters
    candidates  damaged clips as videos, kept in the store
    measuring   what the run's own backends say of them
    curves      a metric's value over the grades of a damage, and whether it is monotone
    demands     where it must be
    drawing     the curves as a figure
    page        all of it as a page, with tables
    placing     where that page lies, among the results and in a report
"""
