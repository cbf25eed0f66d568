"""The only place with SQL. asyncpg's records and errors do not leave it."""
