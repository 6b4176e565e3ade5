# SPDX-License-Identifier: MIT
"""PyTorch's side of the benchmark of ranks: one process per GPU, which gpu-ranks.py controls over
pipes. A line `alone N` or `both N` requests the microseconds per step of N GPT-2 steps, on only
this GPU or with DistributedDataParallel; `links` requests the times of NCCL's collectives."""
import json
import os
import sys

import torch
import torch.distributed as distributed
from torch.nn import attention

import transformer_models as models
from transformer_rows import ROWS, tiny

SIZES = (4 << 10, 64 << 10, 1 << 20, 4 << 20, 16 << 20, 32 << 20, 128 << 20, 512 << 20)


class Training:
    """Steps of GPT-2 with bf16 weights and fp32 masters, or with autocast; data parallel if
    `shared`."""

    def __init__(self, row, device, shared, autocast, compiled):
        torch.manual_seed(0)
        torch._dynamo.reset()
        self.row, self.device, self.autocast = row, device, autocast
        self.on_gpu = device.type == "cuda"
        self.model = models.Gpt2(row.vocabulary, row.length, row.features, row.layers, row.heads)
        self.model.to(device)
        self.parameters = list(self.model.parameters())
        if not autocast:
            self.masters = [one.detach().clone().requires_grad_() for one in self.parameters]
            for one in self.masters:
                one.grad = torch.zeros_like(one)
            self.model.to(torch.bfloat16)
        trained = self.parameters if autocast else self.masters
        self.optimizer = torch.optim.AdamW(
            [{"params": [p for p in trained if p.dim() > 1], "weight_decay": 0.01},
             {"params": [p for p in trained if p.dim() < 2], "weight_decay": 0}],
            lr=1e-4, betas=(0.9, 0.95), eps=1e-8, fused=True)
        wrapped = self.model
        if shared:
            ids = [device.index] if self.on_gpu else None
            wrapped = torch.nn.parallel.DistributedDataParallel(
                self.model, device_ids=ids, gradient_as_bucket_view=True)
        self.call = torch.compile(wrapped, dynamic=False) if compiled else wrapped
        self.x, self.y = (torch.randint(0, row.vocabulary, (row.batch, row.length), device=device)
                          for _ in range(2))
        self.run(3)

    def step(self):
        for parameter in self.parameters:
            parameter.grad = None
        if self.autocast:
            with torch.autocast(self.device.type, torch.bfloat16):
                loss = self.call(self.x, self.y)
        else:
            loss = self.call(self.x, self.y)
        loss.backward()
        trained = self.parameters if self.autocast else self.masters
        with torch.no_grad():
            if not self.autocast:
                torch._foreach_copy_([one.grad for one in self.masters],
                                     [one.grad for one in self.parameters])
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            self.optimizer.step()
            if not self.autocast:
                torch._foreach_copy_(self.parameters, self.masters)

    def run(self, count):
        """Returns the microseconds per step of several consecutive steps."""
        backend = attention.SDPBackend.CUDNN_ATTENTION if self.on_gpu else attention.SDPBackend.MATH
        with attention.sdpa_kernel(backend):
            if not self.on_gpu:
                for _ in range(count):
                    self.step()
                return 0.0
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(count):
                self.step()
            end.record()
            end.synchronize()
            return begin.elapsed_time(end) * 1e3 / count


def time_links(device):
    """Returns the microseconds of collectives of bf16 by name and bytes."""
    result = {}
    for size in SIZES:
        whole = torch.rand(size // 2, device=device).bfloat16()
        part = torch.rand(size // 2 // distributed.get_world_size(), device=device).bfloat16()
        calls = {"all-reduce": lambda: distributed.all_reduce(whole),
                 "all-gather": lambda: distributed.all_gather_into_tensor(whole, part),
                 "reduce-scatter": lambda: distributed.reduce_scatter_tensor(part, whole)}
        for name, call in calls.items():
            call()
            count = 200 if size < 1 << 20 else 20
            torch.cuda.synchronize()
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(count):
                call()
            end.record()
            end.synchronize()
            result.setdefault(name, {})[size] = begin.elapsed_time(end) * 1e3 / count
    return result


def main():
    rank, small, way = int(os.environ["RANK"]), sys.argv[1] == "tiny", sys.argv[2]
    on_gpu = torch.cuda.is_available()
    device = torch.device("cuda", rank) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if on_gpu else "gloo")
    row = tiny(ROWS["gpt2"]) if small else ROWS["gpt2"]
    made = {}
    for line in sys.stdin:
        what, count = line.split()
        try:
            if what == "links":
                answer = time_links(device) if on_gpu else {}
            else:
                if what not in made:
                    made[what] = Training(row, device, what == "both", way == "autocast", on_gpu)
                answer = made[what].run(int(count))
        except Exception as error:  # whatever torch.compile or a library raise
            answer = {"error": str(error)[:400]}
        print("answer " + json.dumps(answer), flush=True)
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
