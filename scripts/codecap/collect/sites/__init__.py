"""Videos from sites and servers, over yt-dlp's Python interface: what may be asked, how fast, and what an answer means."""
