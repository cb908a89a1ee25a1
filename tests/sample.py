"""A made-up result with something in every part."""

from typing import Any

from floatgate.result import declared

SOURCES = ("host", "gc", "wear", "refresh", "rewrite", "map", "parity", "fold")
PERCENTILES = ("p50", "p90", "p99", "p99_9", "p99_99")
FACTORS = (0.9, 2, 5, 9, 12)


def by_source(**counts: int) -> dict[str, int]:
    split = {source: counts.get(source, 0) for source in SOURCES}
    return split | {"total": sum(split.values())}


def host(requests: int, size: int, mean: float, gc: float) -> dict[str, Any]:
    percentiles = {
        key: int(mean * factor) for key, factor in zip(PERCENTILES, FACTORS, strict=True)
    }
    queue = dict.fromkeys(SOURCES, 0.0) | {"host": mean / 4, "gc": gc}
    split = {
        "throttle": 0.0,
        "queue": queue,
        "bus": 0.0,
        "array": mean - mean / 4 - gc,
        "ecc": 0.0,
        "buffer": 0.0,
        "link": 0.0,
        "controller": 0.0,
        "suspend": 0.0,
        "map": 0.0,
    }
    return {
        "requests": requests,
        "bytes": requests * size,
        "latency_ns": {"mean": mean, "min": int(mean / 2)} | percentiles | {"max": int(mean * 20)},
        "delay_ns_by_cause": split,
        "slowest": {
            "requests": requests // 80,
            "from_ns": int(mean * 8.9),
            "delay_ns_by_cause": split | {"queue": queue | {"gc": gc + 9 * mean}},
        }
        if requests
        else None,
    }


def over(below: Any, value: Any) -> Any:
    """A value; its absent keys come from an empty one below it."""
    if not isinstance(below, dict) or not isinstance(value, dict):
        return value
    return below | {key: over(below.get(key), each) for key, each in value.items()}


def result() -> dict[str, Any]:
    """Sections and fields that are not named here are as in a run in which nothing happened."""
    made = over(declared.empty(), _numbers())
    made["policies"] = _numbers()["policies"]
    return dict(made)


def _numbers() -> dict[str, Any]:
    return {
        "provenance": {
            "version": "0.1.0",
            "config": {
                "name": "agcr",
                "ftl": {"spare-factor": 0.1},
                "host": {"mode": "timestamps"},
                "precondition": {"fill": "full", "age": "none"},
            },
            "config_hash": "sha256:00",
            "seed": 1,
            "workload": {
                "name": "msr:hm_0",
                "format": "msr-csv",
                "sha256": "ab" * 32,
                "reading": None,
                "requests": 300_000,
                "skipped": 0,
                "notes": ["read as vscsi", "3 bad records skipped"],
                "stand_in": {"model": "profile", "version": "1", "fitted_to": "published table"},
                "out_of_range": "compact",
                "shift_bytes": 0,
            },
        },
        "end": {
            "state": "completed",
            "at_ns": 7_200_000_000_000,
            "reason": None,
            "work_left": {"moves": 96, "erases": 1, "die_seconds": 0.05},
        },
        "host": {
            "read": host(100_000, 8192, 250_000.0, 20_000.0),
            "write": host(200_000, 4096, 812_345.0, 300_000.0),
            "trim": host(0, 0, 0.0, 0.0),
            "flush": host(0, 0, 0.0, 0.0),
            "all": host(300_000, 5461, 624_000.0, 206_000.0),
        },
        "flash": {
            "read": by_source(host=200_000, gc=166_000),
            "program": by_source(host=200_000, gc=160_000, wear=6_000),
            "padding": by_source(),
            "erase": by_source(gc=5_600, wear=90),
            "reprogram": by_source(),
            "gc_erase_by_demand": by_source(host=5_600),
            "page_latency_ns": {"read": {"mean": 70_000.0}, "write": {"mean": 600_000.0}},
            "unmapped_reads": 12,
            "pending_reads": 0,
            "by_level": {
                "read": {"high": 0, "medium": 366_000, "low": 0},
                "program": {"high": 0, "medium": 366_000, "low": 0},
            },
            "rmw_reads": 7,
            "skipped_pages": 0,
            "space_wait_max_ns": None,
            "gc_wait_max_ns": 0,
            "suspends": None,
            "copybacks": None,
            "uncorrectable": 0,
        },
        "waf": 1.83,
        "waf_pages": 1.83,
        "wear": {
            "erases": {"min": 3, "mean": 4.25, "max": 9, "stddev": 0.82},
            "effective": {"min": 3.0, "mean": 4.25, "max": 9.0, "stddev": 0.82},
        },
        "capacity": {
            "physical_bytes": 68_719_476_736,
            "logical_bytes": 61_847_529_062,
            "over_provisioning": 0.1111,
            "spare_factor": 0.1,
            "free_blocks": 512,
            "low_density_blocks": 0,
            "bad_blocks": 0,
        },
        "energy_joules": {
            "read": 1.5,
            "program": 20.25,
            "erase": 3.0,
            "reprogram": 0,
            "transfer": 2,
            "idle": 0,
            "total": 26.75,
        },
        "energy_split": {
            "source": dict.fromkeys(SOURCES, 0.0) | {"host": 14.75, "gc": 12.0},
            "page_type": {"read": [0.5, 1.0], "program": [4.25, 16.0]},
            "per_host_byte": 1.625e-8,
        },
        "lifetime": None,
        "policies": {
            "cost": {
                "name": "fixed",
                "params": {"level": "medium"},
                "dram_bytes": 0,
                "counters": {"programs": 366_000},
            },
            "victim": {
                "name": "greedy",
                "params": {},
                "dram_bytes": 4096,
                "counters": {"choices": 5_600, "valid_pages_mean": 28.6},
            },
        },
        "checks": {
            "requests_generated": 300_000,
            "requests_served": 300_000,
            "programs": 366_000,
            "host_plus_moves": 366_000,
            "padding": 0,
            "mapped": 123_456,
            "valid": 123_456,
            "little_law_error": None,
            "passed": True,
        },
        "warnings": [
            {
                "code": "few-samples",
                "text": "p99.99 of reads rests on 10 samples; take it as a hint, and run more "
                "requests for a number to rely on",
            }
        ],
        "simulated_seconds": 7200.0,
        "timing": {
            "wall_seconds": 0.42,
            "cpu_seconds": 0.41,
            "page_ops_per_second": 5_300_000.0,
            "requests_per_second": 1_250_000.0,
        },
    }
