"""Reviewing annotations: drafts of machines on one page in the browser, decided by people, every change kept.

`drafts` finds what there is to review, `state` is an annotation under review, `edits` changes it, `journal` keeps each change
before it counts, `clip_review` joins them, `holds` lets one tab work on a clip at a time, `deciding` ends a review, `queue` orders,
`frames` shows, `worker` and `computing` compute beside the server, `access` lets nobody else in, `app` answers the page.
"""
