"""Errors that a user can cure."""


class UserError(Exception):
    """Something the user can cure; the message says what is wrong, where, and what to do.

    Commands and jobs print it as one line and end with status 1. Any other exception is a programming error, with its traceback.
    """
