"""What is known of software, papers and deployments, in rows of data; audited where it is asked."""

from .stated import Bug, Deployment, Stated, read_bugs, read_deployments, settle

__all__ = ["Bug", "Deployment", "Stated", "read_bugs", "read_deployments", "settle"]
