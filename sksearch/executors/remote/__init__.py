"""Workers that others have started: Dask, Ray, pools of futures, any joblib backend."""
