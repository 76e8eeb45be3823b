"""A round of masked aggregation stage by stage, for tests that meddle with it."""

from exactdp.mechanisms.samplers.bits import SeededBits
from exactdp.protocols.aggregation.masked import Server, Stage, Terms, User

_STEPS = [
    (Stage.SHARES, Server.keys, User.share_keys),
    (Stage.INPUT, Server.shares, User.mask),
    (Stage.CONFIRMATION, Server.present, User.confirm),
    (Stage.UNMASKING, Server.confirmations, User.unmask),
]


class Played:
    """Terms, a server and its users; `until` plays on with those who have not vanished.

    The graphs are small enough to see through: unless `shape` says so nothing is promised of them,
    and as many users may vanish as the threshold allows.
    """

    def __init__(self, messages, modulus, *, seed=1, vanish=None, **shape):
        self.bits = SeededBits(seed)
        self.vanish = dict(vanish or {})
        degree = shape.setdefault("neighbours", min(32, len(messages) - 1))
        shape.setdefault("threshold", 2 * degree // 3 + 1)
        shape = {"failure": 1, "corrupt": 0, "dropout": len(messages) - 2, **shape}
        length = {len(each) for each in messages.values()}.pop()
        self.terms = Terms.drawn(modulus, messages, self.bits, length=length, **shape)
        self.server = Server(self.terms)
        self.users = {
            user: User(user, message, self.terms, self.bits) for user, message in messages.items()
        }
        self.sent = {}  # by stage and user
        self.mail = {Stage.KEYS: {}}  # by stage: what its messages answer

    def stays(self, user, stage):
        return user not in self.vanish or self.vanish[user].value > stage.value

    def deliver(self, message):
        """What the server receives of a user."""
        self.server.receive(message)

    def until(self, stage):
        """Play every stage before this one, and send the mail that this one answers."""
        while self.server.stage.value < stage.value:
            now = self.server.stage
            if now is Stage.KEYS:
                self.sent[now] = {
                    user: each.advertise()
                    for user, each in self.users.items()
                    if self.stays(user, now)
                }
            else:
                answer = _STEPS[now.value - 1][2]
                self.sent[now] = {
                    user: answer(self.users[user], letter)
                    for user, letter in self.mail[now].items()
                    if self.stays(user, now)
                }
            for message in self.sent[now].values():
                self.deliver(message)
            if now is not Stage.UNMASKING:
                step = _STEPS[now.value]
                self.mail[step[0]] = step[1](self.server)
            else:
                self.mail[Stage.DONE] = self.server.result()
        return self.mail[stage]
