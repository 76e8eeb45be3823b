"""What is known of losses by the cells of a lattice, where outcomes are not listed one by one."""
