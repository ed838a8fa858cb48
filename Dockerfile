# The image of workers and of the one-shot setup in docker-compose.yml.
FROM python:3.12-slim

# git and make for checks, bubblewrap to confine commands, node is left to images of your own.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap git make \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /app
COPY requirements.lock ./
RUN python -m pip install --no-cache-dir --require-hashes --requirement requirements.lock

COPY pyproject.toml README.md ./
COPY domain domain
COPY ledger ledger
COPY workflows workflows
COPY activities activities
COPY workers workers
COPY legato legato
RUN python -m pip install --no-cache-dir --no-deps --no-build-isolation .

# Any user of the host may run it; what lasts is in LEGATO_HOME.
ENV HOME=/tmp
CMD ["legato-worker"]
