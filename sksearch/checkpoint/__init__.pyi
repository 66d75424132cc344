from sksearch.checkpoint._accept import accept_changes as accept_changes
