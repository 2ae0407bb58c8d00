from torch.amp.grad_scaler import GradScaler
