"""The parts of Flower that our mod and strategy meet, with its arithmetic; nothing is masked.

Messages are plain objects, records are one dict; `secaggplus_mod` answers the one stage at which
updates are asked for. `quantize` and what the server makes of the sum are written after Flower's
`secaggplus_mod`, `quantization` and `SecAggPlusWorkflow.unmask_stage`, with its numbers as floats,
and with the worst of the uniform numbers in [0, 1), which is 0.
"""

from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np


@dataclass
class Message:
    content: Any
    message_type: str = "train"
    reply_to: Any = None

    @property
    def metadata(self):
        return SimpleNamespace(message_type=self.message_type)


@dataclass
class FitRes:
    status: Any
    parameters: list
    num_examples: int
    metrics: dict = field(default_factory=dict)


@dataclass
class FitIns:
    parameters: list


def quantize(values, clipping_range, target_range):
    """In [0, target_range], as 32-bit integers."""
    quantizer = target_range / (2 * clipping_range)
    moved = (np.clip(values, -clipping_range, clipping_range) + clipping_range) * quantizer
    found = np.ceil(moved).astype(np.int32)
    found[np.zeros(found.shape) < found - moved] -= 1
    return found


def weighed(values, num_examples, state):
    """What a client masks: the weight, then the values."""
    ratio = round(num_examples / state["max_weight"] * state["target_range"])
    scaled = values * (ratio / state["target_range"])
    parts = quantize(scaled, state["clipping_range"], state["target_range"])
    return np.concatenate(([np.int64(ratio)], parts.astype(np.int64)))


def unmasked(total, clients, state):
    """What the server hands the strategy of the sum of so many clients' messages."""
    total = total & (state["mod_range"] - 1)
    inverse = state["target_range"] / total[0]
    found = total[1:].astype(float)
    found = found * ((2 * state["clipping_range"]) / state["target_range"])
    found += -state["clipping_range"]
    found += -(clients - 1) * state["clipping_range"]
    found *= inverse
    return found


def secaggplus_mod(message, context, call_next):
    """The stage at which masked vectors are collected."""
    if message.message_type != "train":
        return call_next(message, context)
    answer = call_next(message, context)
    sent = answer.content
    (values,) = sent.parameters
    assert answer.reply_to is message and values.dtype == np.float64
    return Message(
        FitRes(
            sent.status,
            [weighed(values, sent.num_examples, context.state.config_records["state"])],
            sent.num_examples,
            sent.metrics,
        )
    )


def modules():
    """By name, as `sys.modules` has them."""
    common = {
        "Code": SimpleNamespace(OK=0),
        "FitRes": FitRes,
        "Status": lambda code, message: (code, message),
        "ndarrays_to_parameters": list,
        "parameters_to_ndarrays": list,
    }
    records = SimpleNamespace(
        recorddict_to_fitins=lambda content, keep_input: content,
        recorddict_to_fitres=lambda content, keep_input: content,
        fitres_to_recorddict=lambda result, keep_input: result,
    )
    names: dict[str, dict[str, Any]] = {
        "flwr": {},
        "flwr.app": {"Message": Message},
        "flwr.client": {},
        "flwr.client.mod": {"secaggplus_mod": secaggplus_mod},
        "flwr.common": common,
        "flwr.common.secure_aggregation": {},
        "flwr.common.secure_aggregation.secaggplus_constants": {"RECORD_KEY_STATE": "state"},
        "flwr.compat": {},
        "flwr.compat.common": {"recorddict_compat": records},
        "flwr.server": {},
        "flwr.server.workflow": {"SecAggPlusWorkflow": lambda *given, **named: (given, named)},
    }
    found = {}
    for name, parts in names.items():
        found[name] = ModuleType(name)
        vars(found[name]).update(parts)
    return found
