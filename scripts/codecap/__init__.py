"""CodeCap: can code be a good video caption?"""

__version__ = "0.1.0"
