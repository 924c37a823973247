"""A reader for each form in which configurations of Kafka are kept; `review/read.py` lists them."""
