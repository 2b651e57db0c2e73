module rackloom/workloads/function

go 1.19
