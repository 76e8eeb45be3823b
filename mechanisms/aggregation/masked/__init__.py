"""Secure aggregation by masks that cancel in the sum.

Bonawitz et al., "Practical Secure Aggregation for Privacy-Preserving Machine Learning" (CCS 2017),
on the sparse graph of Bell et al., "Secure Single-Server Aggregation with (Poly)Logarithmic
Overhead" (CCS 2020). Each user adds to its message one mask for each of its k neighbours, which
that neighbour subtracts, and one mask of its own. Shares of both secrets behind these lie with the
neighbours: if the user vanishes, t of them open the key of its pairwise masks; if its message
arrived, the seed of its own.

    user -> server              server -> user
    KeyAdvertisement            NeighbourKeys       two X25519 keys
    SealedShares                DeliveredShares     Shamir shares, sealed for each neighbour
    MaskedInput                 Present             the message under its masks; whose has arrived
    Confirmation                Confirmations       neighbours compare what they were shown
    Unmasking                                       one share of each neighbour, of one kind

**What the server learns.** With c corrupt users that tell it all that they know:

- *It follows the protocol.* Nothing but the sum of the honest messages that are in it, if each
  honest user has fewer than t corrupt neighbours and the honest users that are present are
  connected. Proof, for masks that are uniform: the masks on the edges of a spanning tree are
  unknown, independent and uniform; cut off its leaves one after the other, and each leaf's masked
  message is uniform given all others, until the last one is what the sum leaves. The rest is what
  X25519, HKDF, ChaCha20 and Poly1305 promise against a bounded adversary.
- *It lies about who has vanished.* An honest user answers once, by one list that says of each
  neighbour that it is present or that it is not, so it opens one kind of share for each. Of the k
  neighbours of an honest user let c be corrupt: the k - c honest ones give one share each and the
  corrupt ones both, k + c together; both secrets need 2t. So for t > (k + c)/2 no lie opens both.
  An honest user also refuses a list on which it is missing itself, on which some user that is
  present has fewer than t neighbours, or which fewer than t neighbours confirm (their tags go
  through the server under pairwise keys). Within one such list nobody is isolated while every
  run of k/2 users on the circle has fewer than t - k/2 corrupt ones.

`graph_failure` computes the probability that any of this fails over the random graph.

**What is not promised.** That the keys are those of the users: there is no signature here and no
public-key infrastructure, so advertisements must come over channels that authenticate them, or a
server in the middle takes everybody's place. That the list is the same for all: neighbours compare
it, distant users do not, so that a server that shows different lists to distant parts of the
circle may learn a sum for each part (comparing globally, as Bonawitz et al. do, takes n²
verifications). That users are honest about their own messages, or that none of them can stop the
round. Python's integers do not take constant time, so nobody may be timing the process.
"""

try:
    import cryptography as _  # noqa: F401
except ImportError as error:
    raise ImportError('masks need cryptography: pip install "exactdp[masks]"') from error

from .failure import GraphFailure, graph_failure
from .masked_sum import MaskedSum, Round
from .messages import RefusedError
from .server import Server
from .stage import Stage
from .terms import Terms
from .user import User

__all__ = [
    "GraphFailure",
    "MaskedSum",
    "RefusedError",
    "Round",
    "Server",
    "Stage",
    "Terms",
    "User",
    "graph_failure",
]
