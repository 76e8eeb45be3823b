"""What Alembic runs: the migrations, in the transaction of the connection that it is given."""

from alembic import context

from exactdp.ledger.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite changes no columns in place
)
context.run_migrations()
