from torch._dynamo import eval_frame, utils
