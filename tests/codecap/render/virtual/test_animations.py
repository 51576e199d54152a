"""Animations of every kind stand where the clock does, and answer the page as if they ran."""

from __future__ import annotations

import pytest

from codecap.render import virtual_clock

BOX = """<!doctype html>
<style>
  @keyframes move { from { left: 0px } to { left: 100px } }
  #box { position: absolute; left: 7px; width: 9px; height: 9px }
  .moving { animation: move 1s linear }
</style>
"""
MOVING = BOX + '<div id="box" class="moving"></div>'
STILL = BOX + '<div id="box"></div>'
ANIMATED = STILL + "<script>const move = box.animate([{ left: '0px' }, { left: '100px' }], 1000);</script>"
LEFT = "parseFloat(getComputedStyle(box).left)"
SMIL = (
    '<svg id="drawing"><rect id="box" width="9" height="9">'
    '<animate attributeName="x" from="0" to="100" dur="1s" repeatCount="indefinite"/></rect></svg>'
)
X = "box.x.animVal.value"


def seek(body: str = "") -> str:
    return f"<script>window.seek = t => {{ {body} }}</script>"


def lefts(page, times, expression=LEFT) -> list:
    return [page.at(time_s, expression) for time_s in times]


# --- CSS animations


def test_a_css_animation_follows_the_clock_both_ways(driven):
    page = driven(MOVING + seek())
    assert lefts(page, [0, 0.25, 0.75, 0.5, 0.5]) == [0, 25, 75, 50, 50]
    assert lefts(page, [1.5, 0.5, 1, 0.999]) == [7, 50, 7, pytest.approx(99.9)]


def test_a_css_animation_starts_when_its_class_is_set(driven):
    page = driven(STILL + seek("box.className = t >= 0.5 ? 'moving' : ''"))
    assert lefts(page, [0.25, 0.5, 0.75, 1.25]) == [7, 0, 25, 75]


def test_a_css_animation_that_a_timer_starts_began_at_the_timer(driven):
    page = driven(STILL + "<script>setTimeout(() => { box.animate({ left: ['0px', '100px'] }, 1000) }, 200)</script>" + seek())
    assert lefts(page, [0.5, 0.7]) == [pytest.approx(30), pytest.approx(50)]


@pytest.mark.parametrize(
    "start", ["box.className = 'moving'", "box.animate({ left: ['0px', '100px'] }, { duration: 1000, delay: 500 })"]
)
def test_before_its_delay_is_over_it_does_not_show_and_is_not_lost(driven, start):
    page = driven(STILL + "<style>.moving { animation-delay: 0.5s }</style>" + f"<script>{start}</script>" + seek())
    assert lefts(page, [0, 0.25, 0.75, 1.25, 0.1, 0.2, 1]) == [7, 7, 25, 75, 7, 7, 50]


@pytest.mark.parametrize("first", ["", "each.pause();"])
@pytest.mark.parametrize("where", ["document", "box", "document.body"])
def test_a_page_may_set_all_that_it_finds_also_before_their_delay(driven, where, first):
    delay = "<style>.moving { animation: move 1s linear 0.5s both }</style>"
    put = f"for (const each of {where}.getAnimations({{ subtree: true }})) {{ {first} each.currentTime = t * 1000; }}"
    page = driven(MOVING + delay + seek(put))
    assert lefts(page, [0, 0.25, 0.75, 0.25, 1]) == [0, 0, 25, 0, 50]
    assert page.at(0.1, "[document, document.body, box].map(place => place.getAnimations().length)") == [1, 0, 1]


def test_before_the_page_has_started_it_it_does_not_show(driven):
    page = driven(STILL + "<script>setTimeout(() => { box.className = 'moving' }, 500)</script>" + seek())
    assert lefts(page, [0.25, 0.5, 0.75, 0.1, 0.2, 1]) == [7, 0, 25, 7, 7, 50]


def test_a_paused_style_stops_it_and_it_goes_on_from_there(driven):
    page = driven(MOVING + seek("box.style.animationPlayState = t >= 0.25 && t < 0.75 ? 'paused' : 'running'"))
    assert lefts(page, [0.125, 0.25, 0.5, 0.75, 1]) == [12.5, 25, 25, 25, 50]


@pytest.mark.parametrize("state", ["paused", "running"])
def test_an_animation_moved_by_its_delay_is_where_the_page_put_it(driven, state):
    style = f"<style>#box {{ animation: move 1s linear {state} both; animation-delay: calc(var(--time, 0) * -1s) }}</style>"
    page = driven(STILL + style + seek("box.style.setProperty('--time', t)"))
    assert lefts(page, [0, 0.25, 0.75, 0.5, 2, 0.5]) == [0, 25, 75, 50, 100, 50]


def test_the_end_of_a_css_animation_is_told_once_in_a_frame_of_its_own(driven):
    page = driven(MOVING + "<script>ends = 0; box.onanimationend = () => ends++</script>" + seek())
    told = [page.seek(k / 4)["settle"] for k in range(8)]
    assert told == [False, False, False, False, True, False, False, False]
    page.page.screenshot()
    assert page.value("ends") == 1


# --- Web Animations


def test_a_web_animation_runs_by_itself(driven):
    page = driven(ANIMATED + seek())
    assert lefts(page, [0, 0.25, 0.75, 0.5]) == [0, 25, 75, 50]
    assert page.value("[move.currentTime, move.startTime, move.playbackRate, move.playState]") == [500, 0, 1, "running"]


def test_it_finishes_once_when_the_clock_passes_its_end_and_comes_back(driven):
    page = driven(
        ANIMATED + "<script>done = []; move.onfinish = () => done.push(1); move.finished.then(() => done.push(2))</script>" + seek()
    )
    for time_s in (0.9, 1.1, 1.2):
        page.seek(time_s)
        page.page.screenshot()
    assert sorted(page.value("done")) == [1, 2]
    assert page.value("[move.playState, move.currentTime, move.startTime]") == ["finished", 1000, 0]
    assert lefts(page, [1.3, 0.25]) == [7, 25]
    assert page.value("move.playState") == "running"


def test_what_the_page_sets_is_shown(driven):
    page = driven(ANIMATED + seek("move.currentTime = t * 500"))
    assert lefts(page, [0, 0.5, 1.5, 3, 0.5]) == [0, 25, 75, 7, 25]


def test_what_the_page_keeps_just_before_the_end_does_not_end(driven):
    page = driven(MOVING + seek("for (const each of document.getAnimations()) each.currentTime = Math.min(t * 1000, 990)"))
    assert lefts(page, [0.5, 0.99, 1.25, 3, 0.5]) == [50, 99, 99, 99, 50]


def test_set_once_it_runs_on_from_there(driven):
    page = driven(ANIMATED + "<script>move.currentTime = 500; move.playbackRate = 0.5</script>" + seek())
    assert lefts(page, [0, 0.5, 0.25]) == [50, 75, 62.5]
    assert page.value("[move.playbackRate, move.currentTime]") == [0.5, 625]


def test_start_time_may_be_set_to_the_timelines(driven):
    page = driven(ANIMATED + seek("if (t === 1) move.startTime = document.timeline.currentTime - 250"))
    assert lefts(page, [0.5, 1, 1.5]) == [50, 25, 75]


def test_paused_played_and_reversed_by_the_page(driven):
    page = driven(ANIMATED + seek("if (t === 0.25) move.pause(); if (t === 1) move.play(); if (t === 1.5) move.reverse()"))
    assert lefts(page, [0.125, 0.25, 0.5, 1, 1.25, 1.5, 1.75]) == [12.5, 25, 25, 25, 50, 75, 50]
    assert page.value("[move.playbackRate, move.playState]") == [-1, "running"]
    assert page.at(2.5, "[move.playState, move.currentTime]") == ["finished", 0]


def test_paused_at_once_only_the_page_moves_it(driven):
    page = driven(ANIMATED + "<script>move.pause()</script>" + seek("move.currentTime = t * 1000"))
    assert lefts(page, [0.25, 0.75, 0.5]) == [25, 75, 50]
    assert page.value("move.playState") == "paused"


def test_played_again_after_its_end(driven):
    page = driven(ANIMATED + seek("if (t === 2) move.play()"))
    assert lefts(page, [0.5, 1.5, 2, 2.25]) == [50, 7, 0, 25]


def test_a_rate_changed_on_the_way_changes_nothing_before(driven):
    page = driven(ANIMATED + seek("if (t === 0.25) move.updatePlaybackRate(2)"))
    assert lefts(page, [0.25, 0.5]) == [25, 75]


def test_finish_and_cancel_are_the_pages(driven):
    page = driven(ANIMATED + seek("if (t === 0.5) move.cancel(); if (t === 1) { move.play(); move.finish() }"))
    assert lefts(page, [0.25, 0.5, 0.75]) == [25, 7, 7]
    assert page.at(1, "[move.playState, move.playbackRate]") == ["finished", 1]


def test_an_endless_one_cannot_be_finished_and_goes_on(driven):
    endless = "<script>const move = box.animate({ left: ['0px', '100px'] }, { duration: 1000, iterations: Infinity });</script>"
    page = driven(STILL + endless + seek("if (t === 0.25) try { move.finish() } catch (error) { window.refused = error.name }"))
    assert lefts(page, [0.25, 5.5]) == [25, 50]
    assert page.value("refused") == "InvalidStateError"


# --- real time, which passes between frames and must not show

FRAMES_MS = 100  # in which a browser that draws by itself draws some frames
SET = "move.currentTime = t * 1000"


def lefts_after_frames(page, times, expression=LEFT) -> list:
    """As `lefts`, but the browser has drawn frames of its own before each is read."""
    found = []
    for time_s in times:
        page.seek(time_s)
        page.page.wait_for_timeout(FRAMES_MS)
        found.append(page.value(expression))
    return found


@pytest.mark.parametrize(
    "body",
    [
        "",
        SET,
        SET + "; if (t > 1) move.finish()",
        SET + "; move.pause(); move.play(); " + SET,
        "move.startTime = document.timeline.currentTime - t * 1000",
        SET + "; move.playbackRate = 2; move.playbackRate = 1",
        SET + "; move.updatePlaybackRate(2); move.updatePlaybackRate(1)",
    ],
)
def test_what_has_ended_stays_so_while_frames_are_drawn(driven, body):
    page = driven(ANIMATED + seek(body))
    assert lefts_after_frames(page, [0.5, 1.5, 0.25]) == [pytest.approx(50), 7, pytest.approx(25)]


def test_what_has_ended_backwards_stays_so_while_frames_are_drawn(driven):
    page = driven(ANIMATED + "<script>move.reverse()</script>" + seek("move.currentTime = 500 - t * 1000"))
    assert lefts_after_frames(page, [0.25, 1, 0.125]) == [25, 7, 37.5]


def test_one_that_is_made_longer_after_its_end_goes_on_by_the_clock(driven):
    page = driven(ANIMATED + seek("move.effect.updateTiming({ duration: t >= 2 ? 4000 : 20 })"))
    assert lefts_after_frames(page, [0.01, 1, 2, 3, 0.015]) == [pytest.approx(50), 7, 50, 75, pytest.approx(75)]


def test_a_start_set_for_one_that_never_ran_is_the_clocks(driven):
    made = "<script>const move = new Animation(new KeyframeEffect(box, { left: ['0px', '100px'] }, 1000))</script>"
    page = driven(STILL + made + seek("if (t === 1) move.startTime = document.timeline.currentTime - 250"))
    assert lefts_after_frames(page, [0.5, 1, 1.5, 2]) == [7, 25, 75, 7]


def test_a_rate_that_a_page_gives_to_one_it_finds_changes_at_once(driven):
    found = "document.getAnimations().forEach(each => each.updatePlaybackRate(2))"
    page = driven(STILL + seek(f"if (t === 1) {{ box.className = 'moving'; {found} }}"))
    assert lefts_after_frames(page, [0.5, 1, 1.25]) == [7, 0, 50]


@pytest.mark.parametrize("start", ["box.className = 'moving'", "box.animate({ left: ['0px', '100px'] }, 20)"])
def test_a_short_one_does_not_pass_while_the_page_loads(driven, start):
    page = driven(STILL + f"<style>.moving {{ animation-duration: 20ms }}</style><script>{start}</script>" + seek(), wait_ms=None)
    page.page.wait_for_timeout(2 * FRAMES_MS)
    page.ready()
    assert lefts_after_frames(page, [0, 0.005, 0.025]) == [0, 25, 7]


def test_a_short_one_does_not_pass_while_a_seek_waits(driven):
    waits = "box.className = 'moving'; if (t === 1) return new Promise(done => { window.done = done })"
    page = driven(STILL + "<style>.moving { animation-duration: 20ms }</style>" + seek(waits))
    page.value(f"{virtual_clock.seek_call(1)}; 0")
    page.page.wait_for_timeout(2 * FRAMES_MS)
    assert page.value(f"done(); {LEFT}") == 0
    assert lefts_after_frames(page, [1.005, 1.025]) == [pytest.approx(25), 7]


def test_smil_that_is_begun_begins_at_the_clocks_time(driven):
    later = SMIL.replace("<animate ", '<animate begin="indefinite" id="move" ')
    page = driven('<!doctype html><div id="place"></div>' + seek())
    page.seek(1)
    page.value(f"place.innerHTML = `{later}`; 0")
    page.page.wait_for_timeout(2 * FRAMES_MS)
    assert page.value("move.beginElement(); move.getStartTime()") == 0
    assert lefts_after_frames(page, [1.25, 1.75, 1.5], X) == [25, 75, 50]


# --- transitions


def test_a_transition_is_seen_at_its_end_and_so_are_those_that_it_starts(driven):
    inherited = "<style>* { transition: color 1s, left 1s 1s }</style><script>box.innerHTML = '<b><i id=inner>x</i></b>'</script>"
    page = driven(STILL + inherited + seek("box.style.color = `rgb(${t * 100}, 0, 0)`; box.style.left = `${t * 100}px`"))
    for time_s in (0.5, 2, 1):
        colour = f"rgb({round(time_s * 100)}, 0, 0)"
        assert page.at(time_s, f"[{LEFT}, getComputedStyle(inner).color]") == [time_s * 100, colour]


# --- SMIL


def test_smil_follows_the_clock_both_ways(driven):
    page = driven(SMIL + seek())
    assert lefts(page, [0, 0.25, 1.75, 0.5], X) == [0, 25, 75, 50]
    assert page.value("[drawing.getCurrentTime(), drawing.animationsPaused()]") == [0.5, False]


@pytest.mark.parametrize("before", ["", "drawing.pauseAnimations()"])
def test_smil_that_the_page_sets_is_left_to_it(driven, before):
    page = driven(SMIL + f"<script>{before}</script>" + seek("drawing.setCurrentTime(t / 2)"))
    assert lefts(page, [0, 0.5, 1.5, 1], X) == [0, 25, 75, 50]
    assert page.value("drawing.animationsPaused()") is bool(before)


def test_smil_put_in_later_starts_then(driven):
    page = driven("<!doctype html><main id=place></main>" + seek(f"if (t === 1) place.innerHTML = `{SMIL}`"))
    page.seek(0)
    assert lefts(page, [1, 1.25, 1.5], X) == [0, 25, 50]


def test_smil_paused_and_let_go_by_the_page(driven):
    page = driven(SMIL + seek("if (t === 0.25) drawing.pauseAnimations(); if (t === 1) drawing.unpauseAnimations()"))
    assert lefts(page, [0.25, 0.5, 1, 1.25], X) == [25, 25, 25, 50]


# --- other places


def test_shadow_roots_and_frames_inside_are_held(driven):
    style = (
        "<style>@keyframes move { to { left: 100px } } b { position: absolute; left: 0; animation: move 1s linear }</style><b>x</b>"
    )
    inside = f"<template shadowrootmode='open'>{style}</template>"
    frame = f'<iframe id="frame" srcdoc="{style}<script>n = 0; setInterval(() => n++, 100)</script>"></iframe>'
    late = f"<script>const root = late.attachShadow({{ mode: 'closed' }}); root.innerHTML = `{style}`</script>"
    page = driven(f"<!doctype html><div id=late></div><div id=written>{inside}</div>{frame}{late}" + seek())
    left = "getComputedStyle(ROOT.querySelector('b')).left"
    places = [left.replace("ROOT", root) for root in ("root", "written.shadowRoot", "frame.contentDocument")]
    for time_s in (0.25, 0.75, 0.5):
        assert page.at(time_s, f"[{', '.join(places)}]") == [f"{time_s * 100:g}px"] * 3
    assert page.value(
        "[frame.contentWindow.n, frame.contentWindow.performance.now(), frame.contentWindow.Date.now() - Date.now()]"
    ) == [8, 500, 0]


@pytest.mark.parametrize(
    "frame",
    [
        "<iframe sandbox srcdoc=x></iframe>",
        "<iframe sandbox=allow-scripts srcdoc='<script>setInterval(() => parent.postMessage(1, origin), 1)</script>'></iframe>",
        "<iframe src='data:text/html,<script>requestAnimationFrame(() => 1)</script>'></iframe>",
        "<object data='data:image/svg+xml,<svg xmlns=&quot;http://www.w3.org/2000/svg&quot;/>'></object>",
        "<iframe src='about:blank'></iframe>",
    ],
)
def test_frames_of_any_kind_do_no_harm(driven, frame):
    page = driven(f"<!doctype html>{frame}" + seek())
    assert page.seek(0.5) == {"state": "done", "settle": False}
    assert page.errors == []


def test_frames_that_a_script_writes_share_the_clock(driven):
    page = driven(
        """<!doctype html><body><script>
        let n = 0;
        window.count = () => n++;
        const text = "<script>setInterval(parent.count, 100)</" + "script>";
        const [empty, written, sourced] = [0, 1, 2].map(() => document.body.appendChild(document.createElement("iframe")));
        empty.contentWindow.setInterval(count, 100);
        written.contentDocument.write(text);
        written.contentDocument.close();
        sourced.contentWindow.Date.now();
        sourced.srcdoc = text;
        </script>"""
        + seek()
    )
    assert page.at(1, "n") == 30


def test_a_frame_taken_away_runs_no_more(driven):
    frame = '<iframe id="frame" srcdoc="<script>setInterval(() => parent.count++, 100)</script>"></iframe>'
    page = driven("<!doctype html><script>count = 0</script>" + frame + seek("if (t === 1) frame.remove()"))
    assert [page.at(time_s, "count") for time_s in (0.5, 1, 1.5)] == [5, 10, 10]
