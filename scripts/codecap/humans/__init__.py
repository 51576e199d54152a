"""People score what judges score: a blinded page of focal points (`sheet`), and the way back of what they gave (`importing`)."""
