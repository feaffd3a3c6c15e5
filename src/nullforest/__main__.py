"""What does `python -m nullforest` do? The same as the command."""

from nullforest.cli import main

if __name__ == "__main__":
    main()
