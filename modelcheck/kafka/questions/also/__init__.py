"""What a review asks on request of models that go on from that of one partition."""
