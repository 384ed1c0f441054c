"""Timelines of traces made by hand: every number in them is known."""

from __future__ import annotations

from dataclasses import replace

from harness.owners import HARNESS, Owners
from harness.reading import build
from harness.timeline import BEFORE, END, FREE_LISTS, Interval, Span
from tests.harness.core.synthetic import (
    PAGE,
    FakeRecord,
    free,
    intervals,
    malloc,
    mark,
    mmap,
    munmap,
    read,
)

EMPTY: list[FakeRecord] = []


def spans(timeline) -> list[tuple[int, int, int, int]]:
    return sorted((s.born, s.died, s.count, s.bytes) for s in timeline.spans)


def allocations(timeline) -> list[int]:
    return [sum(b.count for b in births.values()) for births in timeline.births]


def test_a_block_freed_in_its_own_interval_is_a_birth_and_no_span() -> None:
    timeline = read([EMPTY, [malloc(16, 100), free(16)], EMPTY, EMPTY])
    assert allocations(timeline) == [0, 1, 0, 0]
    assert spans(timeline) == []
    assert timeline.by_owner(1)["backend"].bytes == 100
    assert timeline.live("backend") == [0, 0, 0, 0]


def test_a_block_freed_in_a_later_interval_lives_between() -> None:
    timeline = read([EMPTY, [malloc(16, 100)], EMPTY, [free(16)], EMPTY, EMPTY])
    assert spans(timeline) == [(1, 3, 1, 100)]
    assert timeline.live("backend") == [0, 100, 100, 0, 0, 0]
    assert timeline.live_blocks(100) == [0, 1, 1, 0, 0, 0]
    assert list(timeline.survivors()) == []


def test_live_bytes_by_owner_are_what_the_run_has_added() -> None:
    timeline = read([EMPTY, [malloc(16, 100)], EMPTY, [free(16)]])
    assert [timeline.live_by_owner(n) for n in range(4)] == [
        {},
        {"backend": 100},
        {"backend": 100},
        {},
    ]
    before = Span(timeline.spans[0].site, 7, born=-1, died=2, count=3)
    freed = replace(timeline, spans=[*timeline.spans, before])
    assert [freed.live_by_owner(n)["backend"] for n in (1, 2)] == [100, 79]


def test_block_that_a_free_list_holds_in_exchange_for_its_own_adds_nothing_to_its_owner() -> None:
    # The second block is in use when the list gives back one of its own.
    timeline = read([[malloc(16, 48)], [malloc(32, 48)], EMPTY, EMPTY])
    site = replace(timeline.spans[0].site, owner=HARNESS, file=FREE_LISTS)
    lists = [Span(site, 48, BEFORE, 1, 1), Span(site, 48, BEFORE, END, 6)]
    exchanged = replace(timeline, spans=[*timeline.spans, *lists])
    assert exchanged.live("backend") == [48, 96, 96, 96]
    assert exchanged.live_total == [48, 48, 48, 48]
    assert [exchanged.live_by_owner(n) for n in range(4)] == [{"backend": 48}] * 4


def test_a_survivor_lives_to_the_end_and_is_counted_where_it_was_born() -> None:
    timeline = read([[malloc(16, 100)], [malloc(32, 50), malloc(48, 50)], EMPTY, EMPTY])
    assert spans(timeline) == [(0, END, 1, 100), (1, END, 2, 100)]
    assert timeline.live("backend") == [100, 200, 200, 200]
    assert sum(s.bytes for s in timeline.survivors()) == 200


def test_equal_blocks_of_one_line_are_one_span() -> None:
    timeline = read([EMPTY, [malloc(n * 16, 8) for n in range(1, 6)], EMPTY, EMPTY])
    assert spans(timeline) == [(1, END, 5, 40)]


def test_an_address_that_is_used_again_is_another_block() -> None:
    timeline = read([[malloc(16, 10)], [free(16), malloc(16, 20)], [free(16)], EMPTY])
    assert spans(timeline) == [(0, 1, 1, 10), (1, 2, 1, 20)]


def test_realloc_is_a_free_and_an_allocation() -> None:
    # memray records the old address as freed and then the new one, which may be the same.
    timeline = read([[malloc(16, 10)], [free(16), malloc(16, 30)], EMPTY, EMPTY])
    assert timeline.live("backend") == [10, 30, 30, 30]
    assert allocations(timeline) == [1, 1, 0, 0]


def test_what_was_there_before_the_first_mark_is_not_born_in_the_run() -> None:
    records = [malloc(16, 100), malloc(32, 7), mark(), mark(), free(16), mark(), mark(), mark()]
    timeline = build(iter(records), intervals(1), Owners())
    assert allocations(timeline) == [0, 0, 0, 0]
    assert list(timeline.survivors()) == []


def test_what_lies_in_no_mapping_at_the_end_was_given_back_at_the_close_at_the_latest() -> None:
    """mremap leaves no record. All but address 64 lie between the two mappings."""
    groups = [[malloc(64, 10), malloc(4096, 7)], EMPTY, EMPTY, [malloc(5000, 3)], [malloc(6000, 2)]]
    records = [mark()]
    for group in groups:
        records += [*group, mark()]
    layout = [*intervals(1), Interval("collect", 1)]
    timeline = build(iter(records), layout, Owners(), mapped=((0, 4096), (8192, 9000)))
    assert timeline.live("backend") == [17, 17, 17, 10, 10]
    assert spans(timeline) == [(0, 3, 1, 7), (0, END, 1, 10)]


def test_the_free_of_an_unknown_block_is_nothing() -> None:
    timeline = read([EMPTY, [free(999), munmap(5 * PAGE, PAGE)], EMPTY, EMPTY])
    assert spans(timeline) == []


def test_unmapping_a_whole_mapping_frees_it() -> None:
    timeline = read([[mmap(PAGE, 4 * PAGE)], [munmap(PAGE, 4 * PAGE)], EMPTY, EMPTY])
    assert timeline.live("backend") == [4 * PAGE, 0, 0, 0]


def test_unmapping_a_part_leaves_the_rest_alive() -> None:
    for start, length in ((1, 1), (2, 2), (4, 1)):
        timeline = read(
            [[mmap(PAGE, 4 * PAGE)], [munmap(start * PAGE, length * PAGE)], EMPTY, EMPTY]
        )
        assert timeline.live("backend") == [4 * PAGE] + 3 * [(4 - length) * PAGE]


def test_a_mapping_may_be_unmapped_piece_by_piece_in_any_order() -> None:
    pieces = [[munmap(n * PAGE, PAGE)] for n in (3, 1, 4, 2)]
    timeline = read([[mmap(PAGE, 4 * PAGE)], *pieces, EMPTY, EMPTY])
    assert timeline.live("backend") == [n * PAGE for n in (4, 3, 2, 1, 0, 0, 0)]
    assert list(timeline.survivors()) == []


def test_one_unmapping_may_end_several_mappings() -> None:
    maps = [mmap(PAGE, PAGE), mmap(2 * PAGE, PAGE), mmap(3 * PAGE, PAGE)]
    timeline = read([maps, [munmap(PAGE + PAGE // 2, 2 * PAGE)], EMPTY, EMPTY])
    assert timeline.live("backend")[1] == PAGE


def test_an_allocation_as_large_as_a_mark_is_none() -> None:
    impostor = FakeRecord(6, 16, mark().size, (("mark", "/user/backend.py", 3),))
    deeper = FakeRecord(6, 32, mark().size, (("append", "/user/backend.py", 3), *mark().stack))
    timeline = read([EMPTY, [impostor, deeper], EMPTY, EMPTY])
    assert len(timeline.intervals) == 4
    assert allocations(timeline)[1] == 2


def test_a_trace_that_breaks_off_gives_the_intervals_that_ended() -> None:
    layout = intervals(5, cycles=3)
    records = [mark(), malloc(16, 10), mark(), malloc(32, 20), mark(), free(16), malloc(48, 5)]
    timeline = build(iter(records), layout, Owners())
    assert timeline.intervals == layout[:2]
    assert timeline.live("backend") == [10, 30]
    assert timeline.steps == [1]
    assert timeline.by_owner(1)["backend"].allocations == 1
    assert [s.bytes for s in timeline.survivors()] == [20]
    assert (timeline.cycles, timeline.events) == (1, 7)


def test_a_trace_without_a_mark_gives_nothing() -> None:
    for records in ([], [malloc(16, 10)], [mark()], [mark(), malloc(16, 10)]):
        timeline = build(iter(records), intervals(5), Owners())
        assert (timeline.intervals, timeline.births, timeline.steps) == ([], [], [])
        assert timeline.cycles == 0
        assert timeline.owners == []


def test_every_record_is_counted_up_to_the_last_mark() -> None:
    groups = [[malloc(n * 16, 8), free(n * 16)] for n in range(1, 6)]
    assert read(groups).events == 6 + 10
    records = [mark(), mark(), mark(), mark(), mark(), malloc(16, 1), malloc(32, 1)]
    timeline = build(iter(records), intervals(1), Owners())
    assert timeline.events == 5  # what the process does after the run is none of its business
    assert list(timeline.survivors()) == []


def test_buffers_are_blocks_of_a_page_or_more() -> None:
    timeline = read([EMPTY, [malloc(16, PAGE - 1), malloc(9999, PAGE)], EMPTY, EMPTY])
    (births,) = timeline.births[1].values()
    assert (births.count, births.buffers, births.buffer_bytes) == (2, 1, PAGE)


def test_lines_are_kept_apart_and_native_stacks_of_one_line_are_not() -> None:
    records = [
        malloc(16, 1, line=7, native=("a",)),
        malloc(32, 1, line=7, native=("b",)),
        malloc(48, 1, line=8, native=("a",)),
    ]
    births = read([EMPTY, records, EMPTY, EMPTY]).births[1]
    assert {s.line: b.count for s, b in births.items()} == {7: 2, 8: 1}


def test_native_symbols_tell_the_interpreters_own_from_the_backends_on_steady_steps() -> None:
    own = malloc(16, 1050, native=("_PyObject_Malloc", "_PyCode_CreateLineArray", "call_trace"))
    backends = malloc(32, 8, native=("malloc", "at::empty"))
    opened = malloc(48, 8, native=("new_arena",))
    timeline = read([[opened], [own, backends], EMPTY, EMPTY])
    assert {owner: c.bytes for owner, c in timeline.by_owner(1).items()} == {
        "backend": 8,
        "interpreter": 1050,
    }
    # To ask for symbols takes long: nobody does for what no rule looks at.
    assert (own.asked, backends.asked, opened.asked) == (["native"], ["native"], [])


def test_native_symbols_are_asked_for_once_per_stack() -> None:
    records = [malloc(16 * n, 8, native=("malloc", "at::empty")) for n in range(1, 50)]
    read([EMPTY, records, EMPTY, EMPTY])
    assert sum(len(record.asked) for record in records) == 1


def test_the_harness_is_left_out_of_the_counts() -> None:
    from harness import timeline as some_module_of_the_harness

    polling = FakeRecord(6, 16, 10, (("look", some_module_of_the_harness.__file__, 3),))
    timeline = read([EMPTY, [polling, malloc(32, 5)], EMPTY, EMPTY])
    assert set(timeline.by_owner(1)) == {"backend"}
    assert timeline.owners == ["backend"]
    assert [s.bytes for s in timeline.survivors()] == [5]
