"""The file of a job: whole or not there, from an address that is not trusted."""

import pytest

from codecap.exchange import NotReached
from codecap.generate.harnesses import InfraError
from codecap.generate.jobs import download
from codecap.generate.jobs.running import Jobs

from .service import KEY


def test_faults_on_the_way_pass(service, api_of, open_exchange, order, tmp_path, video):
    service.downloads.extend(["503", "cut", "elsewhere"])
    Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == video


def test_an_address_that_has_expired_is_asked_for_again(service, api_of, open_exchange, order, tmp_path, video):
    service.downloads.append("403")
    Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == video
    service.downloads.extend(["403", "404"])
    with pytest.raises(InfraError, match="cgt-001 cannot be downloaded: HTTP 404; the next run tries again; set .*lost_again"):
        Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
    Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
    Jobs(open_exchange(), api_of(submit_lost_again=True)).video(order, tmp_path / "out")  # it is there again
    assert len(service.jobs) == 1


def test_a_file_that_stays_away_can_be_had_of_another_job(service, api_of, open_exchange, order, tmp_path, video):
    for _ in range(2):
        service.downloads.extend(["404"] * 2)
        with pytest.raises(InfraError, match="cgt-001 cannot be downloaded"):
            Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
    assert list(service.jobs) == ["cgt-001"]
    assert Jobs(open_exchange(), api_of(submit_lost_again=True)).video(order, tmp_path / "out").job == "cgt-002"
    assert Jobs(open_exchange(), api_of()).video(order, tmp_path / "out").job == "cgt-002"
    assert (tmp_path / "out").read_bytes() == video and len(service.jobs) == 2


def test_a_file_that_is_too_large_is_not_taken(service, api_of, open_exchange, order, tmp_path):
    with pytest.raises(InfraError, match=r"job cgt-001: its video is larger than 0\.001 MB; raise videos"):
        Jobs(open_exchange(), api_of(largest_mb=0.001)).video(order, tmp_path / "out")
    assert (tmp_path / "out").stat().st_size <= 1000 and len(service.keys) == 1


def test_a_service_that_never_gives_it_is_given_up(service, api_of, open_exchange, order, tmp_path):
    service.downloads.extend(["503"] * 9)
    with pytest.raises(NotReached, match="cannot be downloaded: HTTP 503; run again later"):
        Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")


def test_the_key_goes_to_the_service_alone(service, api_of, open_exchange, order, tmp_path):
    Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
    told = service.told
    elsewhere = service.base_url.replace("127.0.0.1", "localhost").removesuffix("/api/v3")
    service.told = lambda job: told(job) | {"content": {"video_url": f"{elsewhere}/files/{job}.mp4"}}
    Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")
    assert service.keys == [f"Bearer {KEY}", None]
    assert not download._same_place("https://a.example:444/x", "https://a.example/v1")
    assert not download._same_place("http://a.example/x", "https://a.example/v1")


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/passwd",
        "ftp://x/y",
        "//x/y",
        "",
        "http://",
        "http://me:pw@x/y",
        "http://x:port/y",
        "http://a b/",
        "http://é/",
    ],
)
def test_an_address_that_is_none_is_not_opened(service, api_of, open_exchange, order, tmp_path, address):
    told = service.told
    service.told = lambda job: told(job) | {"content": {"video_url": address}}
    with pytest.raises(InfraError, match=r"none that can be used|has no content\.video_url"):
        Jobs(open_exchange(), api_of()).video(order, tmp_path / "out")


def test_a_service_with_encryption_may_not_lead_to_one_without(api_of):
    secure = api_of(base_url="https://example.invalid/v1")
    with pytest.raises(InfraError, match="none that can be used"):
        download._must_be_safe(secure, "j", "http://127.0.0.1/secret")
    download._must_be_safe(secure, "j", "https://cdn.example.invalid/video.mp4")
