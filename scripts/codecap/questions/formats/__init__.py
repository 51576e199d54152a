"""Published sets of questions, one module a format, found by name.

A module has:
    LABEL               how the set is called
    take(row)           a row of its files as `Published`; raises `LeftOut` for what is no multiple-choice question with one right
                        option, `WrongForm` or pydantic's ValidationError for what is not in the set's form
"""
