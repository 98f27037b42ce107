"""What files of one project know of each other: classes, functions and calls that cross from one to another."""
