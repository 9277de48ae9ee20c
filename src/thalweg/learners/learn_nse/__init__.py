"""Learn++.NSE (Karnick, Muhlbaier & Polikar 2008)."""
