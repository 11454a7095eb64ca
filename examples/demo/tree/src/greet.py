"""Greets people by name."""

import sys


def greet(name):
    """Return the greeting for one person."""
    return "Hello " + name


def farewell(name):
    """Return the farewell for one person."""
    return "Bye " + name


def main():
    for name in sys.argv[1:]:
        print(greet(name))


if __name__ == "__main__":
    main()
