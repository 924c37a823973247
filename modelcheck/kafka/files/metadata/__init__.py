"""The metadata log of KRaft: bytes → records → the image of a partition."""
