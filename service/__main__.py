"""python -m service run | serve | ingest | migrate | ask | search | inspect | doctor | models."""

import sys

from service.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
