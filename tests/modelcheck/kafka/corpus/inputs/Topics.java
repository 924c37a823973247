admin.createTopics(List.of(new NewTopic("orders", 6, (short) 1)));
