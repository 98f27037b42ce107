"""Which TPU a training run would need, and what it would take and cost there: on paper, before anything is rented."""
