"""What a stopped Kafka broker leaves on its disks, read without Kafka."""
