"""What things cost: memory in MB and time in seconds, of rules, metrics and backends, fitted above what was measured.

The anchors are in tests/codecap/cluster/test_sizing.py. Networks that were not measured have the memory of their weights and
activations, and a guess for their time; they are marked `derived`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

SNAKEMAKE_MB = 400.0  # the two Snakemake processes of a SLURM job, beside the script: 175 to 190 each
SNAKEMAKE_S = 15.0  # their start, and that of the script
SERVER_MB = 32_000.0  # of a model that is served beside its shard, where the entry does not say; a guess, as is the next
SANDBOX_MB = 500.0  # for each run of an agent, beside what its sandbox may hold: the gateway and what is drawn for it
SERVER_S = 600.0  # its start: tens of GB are read, and kernels compiled
BROWSER_MB = 500.0  # for each page, beside what it may hold: its browser's own and the encoder of its video


@dataclass(frozen=True)
class Cost:
    """What a piece of work costs beside all others of its job.

    Attributes:
        mb: memory, whatever the clip.
        mb_mpx: more for each million pixels of a frame.
        mb_mpx_s: more for each million pixels and second.
        start_s: time a job, to load it.
        s: time a clip.
        s_s: more for each second of the clip.
        s_mpx_s: more for each second and million pixels.
    """

    mb: float = 0.0
    mb_mpx: float = 0.0
    mb_mpx_s: float = 0.0
    start_s: float = 0.0
    s: float = 0.0
    s_s: float = 0.0
    s_mpx_s: float = 0.0
    derived: bool = False

    def memory_mb(self, longest_s: float, largest_mpx: float) -> float:
        return self.mb + (self.mb_mpx + self.mb_mpx_s * longest_s) * largest_mpx

    def clip_s(self, seconds: float, mpx: float) -> float:
        return self.s + (self.s_s + self.s_mpx_s * mpx) * seconds


@dataclass(frozen=True)
class Rows:
    """Memory for rows: for those of each clip and system, and for each second of each clip, as annotations have boxes a frame."""

    mb: float
    mb_s: float


@dataclass(frozen=True)
class Pictures:
    """How many a metric gives its encoder: whatever the clip, and for each second of it."""

    a_clip: float = 0.0
    a_second: float = 0.0

    def __add__(self, other: Pictures) -> Pictures:
        return Pictures(self.a_clip + other.a_clip, self.a_second + other.a_second)


@dataclass(frozen=True)
class Backend:
    """What a backend costs on a CPU and on a GPU; memory is the host's in both.

    Attributes:
        picture_s: time for each picture, on a CPU and on a GPU.
        torch: it computes with torch.
        asks: hosted models, about a candidate: nothing of it is due when a reference is described.
    """

    cpu: Cost
    gpu: Cost = Cost()
    picture_s: tuple[float, float] = (0.0, 0.0)
    torch: bool = False
    asks: bool = False

    def cost(self, on_gpu: bool, pictures: Pictures) -> Cost:
        cost, each_s = (self.gpu, self.picture_s[1]) if on_gpu else (self.cpu, self.picture_s[0])
        return replace(cost, s=cost.s + pictures.a_clip * each_s, s_s=cost.s_s + pictures.a_second * each_s)


@dataclass(frozen=True)
class Metric:
    """What a metric costs beside the decoding that all share, and what it gives its encoder.

    Attributes:
        by_shots: it needs the shots of a video of another length, which the encoder of AS matches.
    """

    cost: Cost = Cost()
    pictures: Pictures = Pictures()
    by_shots: bool = False


TORCH = Cost(mb=550, start_s=4)  # once a job, whatever computes with it
CUDA = Cost(mb=3000, start_s=20, derived=True)  # once a job on a GPU: the driver, the libraries and their workspaces on the host
HOSTED = Cost(mb=1300, mb_mpx=100, start_s=2, s=60, derived=True)  # one clip's questions, some at once
PAGE = Cost(mb=50, s=1, s_s=0.6, s_mpx_s=0.4)  # drawn by a browser, whose own memory is BROWSER_MB
ONE_CALL = Cost(mb=1000, mb_mpx=200, mb_mpx_s=20, start_s=2, s=60, derived=True)  # the whole clip as pictures; 8 clips at once
AGENT = Backend(Cost(mb=500, s=600, derived=True))  # a harness that is not listed
RULES = {  # the script with its libraries, and its work on a clip
    "ingest_originals": Cost(mb=150, mb_mpx=90, start_s=1, s=0.5, s_mpx_s=0.6),
    "survey_originals": Cost(mb=200, mb_mpx=60, start_s=2, s=0.5, s_s=0.25, s_mpx_s=0.15),
    "choose_parts": Cost(mb=250, start_s=2, s=1),
    "filter_clips": Cost(mb=150, mb_mpx=50, start_s=1, s=0.5, s_mpx_s=0.2),
    "ask_proposer": Cost(mb=200, mb_mpx=60, start_s=2, s=1, s_s=0.2, s_mpx_s=0.4),
    "draft_annotations": Cost(mb=220, mb_mpx=50, start_s=2, s=2, s_s=1, s_mpx_s=1),
    "propose_annotations": Cost(mb=220, mb_mpx=50, start_s=2, s=2, s_s=1, s_mpx_s=1),
    "gather_annotations": Cost(mb=150, start_s=2, s=0.1),
    "tabulate_dataset": Cost(mb=150, start_s=2, s=0.1),
    "generate_captions": Cost(mb=100, start_s=2, s=0.5),
    "render_captions": Cost(mb=150, mb_mpx=40, start_s=1, s=0.2),
    "prompt_objects": Cost(mb=130, start_s=2, s=0.5),
    "segment_objects": Cost(mb=130, start_s=1, s=0.3),
    "describe_references": Cost(mb=150, mb_mpx=60, start_s=1, s=0.3, s_s=0.1, s_mpx_s=0.15),
    "score_renders": Cost(mb=150, mb_mpx=60, start_s=1, s=0.3, s_s=0.1, s_mpx_s=0.15),
    "answer_questions": Cost(mb=150, mb_mpx=60, start_s=1, s=0.3, s_s=0.1, s_mpx_s=0.15),
    "compare_systems": Cost(mb=290, start_s=6, s=0.03),
    "build_report": Cost(mb=220, start_s=3, s=0.02),
}
WHOLE = ("compare_systems", "build_report")  # rules whose work is that of all systems
ROWS = {  # rules that hold all their rows at once
    "gather_annotations": Rows(0.0, 0.07),
    "choose_parts": Rows(0.0, 0.002),
    "tabulate_dataset": Rows(0.1, 0.07),
    "compare_systems": Rows(0.13, 0.07),
    "build_report": Rows(0.06, 0.07),
}

METRICS = {
    "visual_similarity": Metric(pictures=Pictures(64)),
    "appearance": Metric(pictures=Pictures(8, 2), by_shots=True),
    "key_frames": Metric(pictures=Pictures(2, 0.5), by_shots=True),
    "frame_similarity": Metric(pictures=Pictures(1, 2)),
    "kss": Metric(Cost(s_s=0.05, s_mpx_s=0.1), by_shots=True),
    "lag": Metric(Cost(s_s=0.08, s_mpx_s=0.1)),
    "mps": Metric(by_shots=True),
}
NO_METRIC = Metric()  # one that is not listed

BACKENDS = {
    "harness vtrace": Backend(Cost(mb=260, mb_mpx=30, mb_mpx_s=4, s=2, s_s=2, s_mpx_s=2)),
    "harness reference": Backend(Cost()),
    "harness direct": Backend(ONE_CALL),
    "harness describe": Backend(ONE_CALL),
    "harness revise": Backend(replace(ONE_CALL, s=300)),
    "harness caption_to_video": Backend(Cost(mb=500, s=300, derived=True), Cost(mb=40_000, start_s=120, s=900, derived=True)),
    "prompter match": Backend(Cost(mb=80, mb_mpx=40, s=1, s_s=0.1)),
    "prompter mllm": Backend(HOSTED, asks=True),
    "judge pixel": Backend(Cost(s_s=0.05, s_mpx_s=0.05)),
    "judge mllm": Backend(HOSTED, asks=True),
    "answerer mllm": Backend(HOSTED, asks=True),
    "proposer mllm": Backend(replace(HOSTED, s=300)),
    "tracker lk": Backend(Cost(mb=30, s_s=0.2, s_mpx_s=0.1)),
    "tracker cotracker3": Backend(Cost(mb=2500, s_s=32), Cost(mb=500, s_s=1, derived=True), torch=True),
    "segmenter color": Backend(Cost(mb=100, mb_mpx=40, s_s=0.5, s_mpx_s=0.5)),
    "segmenter sam2": Backend(
        Cost(mb=3000, mb_mpx=150, start_s=10, s_s=240, derived=True), Cost(mb=2000, mb_mpx=150, s_s=5, derived=True), torch=True
    ),
    "segmenter sam3": Backend(
        Cost(mb=7000, mb_mpx=150, start_s=20, s_s=480, derived=True), Cost(mb=4500, mb_mpx=150, s_s=8, derived=True), torch=True
    ),
    "encoder efficientnet": Backend(Cost(mb=450), torch=True, picture_s=(0.03, 0.03)),
    "encoder dreamsim": Backend(
        Cost(mb=3000, start_s=15, derived=True), Cost(mb=3000, start_s=15, derived=True), torch=True, picture_s=(0.5, 0.02)
    ),
    "encoder siglip2": Backend(
        Cost(mb=3500, start_s=15, derived=True), Cost(mb=3000, start_s=15, derived=True), torch=True, picture_s=(6, 0.03)
    ),
    "encoder vjepa2": Backend(
        Cost(mb=10000, start_s=30, derived=True), Cost(mb=4500, start_s=30, derived=True), torch=True, picture_s=(20, 0.04)
    ),
    "encoder vjepa2_1": Backend(
        Cost(mb=14000, start_s=30, derived=True), Cost(mb=4500, start_s=30, derived=True), torch=True, picture_s=(30, 0.04)
    ),
}
SAME = {"segmenter sam2_package": "segmenter sam2", "segmenter sam3_1": "segmenter sam3"}
ACTIVATIONS = 1.5  # of a network that is not listed: memory for its weights, its file and its activations, times the file


def backend(name: str, weights_gb: float = 0.0) -> Backend:
    """By family and name, "encoder dreamsim".

    Args:
        weights_gb: of its weights' files; all that is known of one that is not listed.
    """
    if name.startswith("harness "):
        found = BACKENDS.get(name, AGENT)
        return found if found.gpu != Cost() else replace(found, gpu=found.cpu)  # what computes there is its model's server
    listed = BACKENDS.get(SAME.get(name, name))
    if listed is not None:
        return listed
    if not weights_gb:
        return Backend(Cost(mb=300, s=1, s_s=0.5, s_mpx_s=0.5, derived=True))
    held = Cost(mb=1000 + 1000 * ACTIVATIONS * weights_gb, start_s=30, s_s=2, derived=True)
    return Backend(replace(held, s_s=100), held, torch=True)
