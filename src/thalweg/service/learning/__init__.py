"""The learning side of the service: live models, their ledger of rows, and copies to predict by."""
