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

**What the server learns.** Let c be the number of an honest user's neighbours that are corrupt:
they tell the server all that they know. Of every honest user nothing is known but what is opened:
its seed (then it is in S) or its key (then in K), each by t of its neighbours, or neither. A user
answers once, by one list that names itself; it opens of each neighbour the seed if that is on the
list and the key if not; and only if t neighbours confirm the same list (their tags go through the
server under pairwise keys), each on it has t neighbours on it, and it has `floor` users or more.

- *Nobody is in S and in K*, if c < 2t - k: the k - c honest neighbours open one of the two, the
  corrupt ones both, k + c together; both take 2t.
- *What is learnt* are sums over those connected parts of the graph of honest users outside K that
  lie in S altogether. (For masks that are uniform: the masks on the edges of a spanning tree are
  unknown, independent and uniform; cut off its leaves one after the other, and each leaf's masked
  message is uniform given all others, until the last one is what the sum leaves, or, if some user
  is neither in S nor in K, is uniform as well under its own mask.)
- *There is one such part at most*, unless two disjoint runs of k/2 users have t - k/2 corrupt ones
  each. If the graph falls apart, a part ends in a user u, and the next k/2 places hold nobody
  honest outside K. t neighbours open u's seed, so at least t - k/2 of them are there. None of those
  in K did: it would unmask by a list with itself, which t of its neighbours confirm, while t open
  its key by lists without it: 2t <= k + c. So they are corrupt; and so at the part's other end.
- *All who unmask do so by one list*, unless corrupt users stand as `graph._split` says. Else at
  least two places of the circle lie between users with different lists, and at one of them a user
  that unmasks is in neither S nor K, since too few of its neighbours do. Then no part lies in S, by
  the point before, and nothing is learnt.

So a server that lies as it likes learns one sum at most, of all honest users on one list of at
least `floor`, or nothing, except with a probability over the graph that `graph_failure` bounds
(`lying_server`). `Terms` refuse a graph that may fail more often than they state. The rest is what
X25519, HKDF, ChaCha20, Poly1305 and SHA-256 promise against a bounded adversary.

**What is not promised.** That the keys are those of the users: there is no signature here and no
public-key infrastructure, so advertisements must come over channels that authenticate them, or a
server in the middle takes everybody's place. That the graph is random: the beacon in the terms must
be one that nobody could foresee when the users were fixed, nor influence. That users are honest
about their own messages; one that seals shares other than it commits to can prevent the sum (by a
share or a confirmation that is wrong it cannot). Python's integers do not take constant time, so
nobody may be timing the process.
"""

try:
    import cryptography as _  # noqa: F401
except ImportError as error:
    raise ImportError('masks need cryptography: pip install "exactdp[masks]"') from error

from ..aggregation import Round, Stage
from .graph import FAILURE, GraphFailure, graph_failure, least_graph
from .masked_sum import MaskedSum
from .messages import RefusedError
from .server import Server
from .terms import Terms
from .user import User

__all__ = ["FAILURE", "GraphFailure", "MaskedSum", "RefusedError", "Round", "Server", "Stage"]
__all__ += ["Terms", "User", "graph_failure", "least_graph"]
