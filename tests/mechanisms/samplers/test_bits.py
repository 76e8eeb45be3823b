"""Random bits: each is handed out once, also to forks, copies and threads."""

import copy
import multiprocessing
import os
import pickle
import threading

import pytest

from exactdp import ParameterError
from exactdp.mechanisms.samplers import SeededBits, SystemBits

SOURCES = [SystemBits, lambda: SeededBits(1)]


@pytest.mark.parametrize("make", SOURCES)
def test_as_many_bits_as_asked_for(make):
    bits = make()
    assert bits.take(0) == 0
    for count in (1, 7, 64, 2048, 2049, 100_000):
        found = [bits.take(count) for _ in range(20)]
        assert all(0 <= x < 1 << count for x in found)
        assert count == 1 or len(set(found)) > 1
    # each binary digit is seen with both values: a wrong one stays with probability 64 2^-199
    words = [bits.take(64) for _ in range(200)]
    assert all({(word >> place) & 1 for word in words} == {0, 1} for place in range(64))


def test_the_seed_determines_the_bits():
    one, same, other = SeededBits(5), SeededBits(5), SeededBits(6)
    first = [one.take(13) for _ in range(500)]
    assert first == [same.take(13) for _ in range(500)]
    assert first != [other.take(13) for _ in range(500)]
    for seed in (-1, 1.5, "x"):
        with pytest.raises(ParameterError, match="seed"):
            SeededBits(seed)


def test_no_bit_is_skipped_or_repeated():
    """Taken in pieces, the bits of a block are those of the block."""
    block, parts = SeededBits(3).take(2048), SeededBits(3)
    found, shift = 0, 0
    for count in (1, 999, 40, 0, 7, 1001):
        found |= parts.take(count) << shift
        shift += count
    assert found == block


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_other_bits():
    bits = SystemBits()
    bits.take(1)  # the buffer is full now
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        os.write(write, bits.take(256).to_bytes(32, "little"))
        os._exit(0)
    os.waitpid(child, 0)
    theirs = int.from_bytes(os.read(read, 32), "little")
    assert theirs not in (0, bits.take(256))
    os.close(read)
    os.close(write)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_while_another_thread_draws_does_not_hang():
    bits = SystemBits()
    bits._lock.acquire()  # as if another thread were inside `take`
    if (child := os.fork()) == 0:
        bits.take(8)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    bits._lock.release()


def _take(bits):
    return bits.take(256)


def test_workers_and_copies_have_other_bits():
    bits = SystemBits()
    bits.take(1)
    copies = [pickle.loads(pickle.dumps(bits)), copy.copy(bits), copy.deepcopy(bits), bits]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map(_take, [bits] * 4) + [each.take(256) for each in copies]
    assert len(set(found)) == 8


def test_seeded_bits_are_not_copied():
    for make in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="another seed"):
            make(SeededBits(1))


def test_threads_share_a_source():
    bits, found = SystemBits(), []

    def work():
        found.extend(bits.take(96) for _ in range(3000))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 12_000  # two of 12,000 alike: 1e-21
