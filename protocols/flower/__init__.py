"""Flower's two sides: clients that add exact noise under SecAgg+, and the server that adds them up.

Flower's SecAgg+ clips each coordinate, rounds and masks, and adds no noise. Here a client's update
(its parameters less those that it was sent) becomes integers by `Encoding`: clipped in L2, rotated,
scaled, rounded within an exact bound of the norm; a share of the noise is added, drawn exactly from
the operating system's CSPRNG; and SecAgg+ adds the result up mod 2^bits, as `Carrier` proves. What
is released is sum (R_i + N_i) mod 2^bits over the clients that answer, and nothing else of theirs:

* The weight, `num_examples`, is 1 for all. Another would tell the server, in clear, how many
  examples a client has, would multiply its integers beyond the norm bound, and its share with them.
* Metrics are left out, and messages that ask for anything but training are refused: evaluation and
  initial parameters from clients would be releases that nobody counts.
* An update with a coordinate that is not finite counts as 0, so that no such client falls silent.
* A client that vanishes before it sends its masked vector takes its share with it; the sum of the
  others' has the law of as many shares as there are messages in the sum, whatever Flower's server
  says of them later, and that number is what the account is told.

What is assumed, and certified for nobody else:

* Whether a client answers, and which are asked, does not depend on the data. Nothing is credited
  for sampling clients, since the server knows whom it asked.
* The server follows the protocol, and the masks hide single messages. Flower draws each from a seed
  that is folded to 32 bits (`pseudo_rand_gen`): against a server that tries all seeds only the
  client's own share protects it. `FederatedAccount.epsilon(..., masked=False)` is what is left
  then. Against everyone who sees models and not the messages this does not matter.

Whoever uses them finds them in `exactdp.interop.flower`, with the account of what rounds cost.
"""

from .client import Carrier, NoisyUpdates
from .server import CertifiedStrategy, secagg_workflow

__all__ = ["Carrier", "CertifiedStrategy", "NoisyUpdates", "secagg_workflow"]
