"""Workers started by other software: Dask, Ray, pools of futures, any joblib backend."""
