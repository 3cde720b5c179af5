"""Reads and writes at positions that are data: embeddings, scatters, rankings, mixtures of experts."""

import torch
import torch.nn.functional as F

from . import case, integers, rand

X = rand(4, 9)


@case(e=rand(10, 4), i=integers(0, 10, 3, 5))
def embedding(e, i):
    """
    param e : f32[10,4]
    input i : i64[3,5]
    output y : f32[3,5,4]
    y[b,t,d] = e[i[b,t],d]
    """
    return F.embedding(i, e)


@case(s=rand(7, 4), i=integers(0, 5, 7))
def index_add(s, i):
    """
    input s : f32[7,4]
    input i : i64[7]
    output y : f32[5,4]
    y[r,d] = sum[j where i[j] == r](s[j,d])
    """
    return torch.zeros(5, 4, dtype=s.dtype).index_add(0, i, s)


@case(x=X)
def topk(x):
    """
    input x : f32[4,9]
    output v : f32[4,3]
    output i : i64[4,3]
    i[m,j] = argtop[n;j](x[m,n]) for j < 3
    v[m,j] = x[m,i[m,j]]
    """
    values, indices = x.topk(3)
    return {"v": values, "i": indices}


@case(x=X)
def sort(x):
    """
    input x : f32[4,9]
    output v : f32[4,9]
    v[m,j] = x[m,argbot[n;j](x[m,n])]
    """
    return x.sort(1)[0]


EXPERTS = dict(x=rand(6, 3), r=rand(4, 3), w1=rand(4, 5, 3), w2=rand(4, 3, 5))


def mixture(x, r, w1, w2):
    scores, chosen = (x @ r.T).topk(2)
    gates = scores.softmax(-1)
    return torch.stack(
        [sum(gate * (w2[e] @ F.silu(w1[e] @ row)) for gate, e in zip(gates[t], chosen[t])) for t, row in enumerate(x)]
    )


@case(**EXPERTS)
def mixture_of_experts(x, r, w1, w2):
    """
    dim T = 6, E = 4, D = 3, H = 5, K = 2
    param r : f32[E,D]
    param w1 : f32[E,H,D]
    param w2 : f32[E,D,H]
    input x : f32[T,D]
    output y : f32[T,D]
    s[t,e] = sum[d](x[t,d] * r[e,d])
    i[t,k] = argtop[e;k](s[t,e]) for k < K
    p[t,k] = exp(s[t,i[t,k]] - max[j<K](s[t,i[t,j]]))
    g[t,k] = p[t,k] / sum[k](p[t,k])
    h[t,k,f] = silu(sum[d](w1[i[t,k],f,d] * x[t,d]))
    y[t,d] = sum[k](g[t,k] * sum[f](w2[i[t,k],d,f] * h[t,k,f]))
    """
    return mixture(x, r, w1, w2)


@case(**EXPERTS)
def mixture_of_experts_sorted_by_expert(x, r, w1, w2):
    """
    dim T = 6, E = 4, D = 3, H = 5, K = 2
    param r : f32[E,D]
    param w1 : f32[E,H,D]
    param w2 : f32[E,D,H]
    input x : f32[T,D]
    output y : f32[T,D]
    s[t,e] = sum[d](x[t,d] * r[e,d])
    i[t,k] = argtop[e;k](s[t,e]) for k < K
    q[t,k] = exp(s[t,i[t,k]] - max[j<K](s[t,i[t,j]]))
    g[t,k] = q[t,k] / sum[k](q[t,k])
    tensor ex : i64[T*K]
    ex[K*t+k] = i[t,k]
    p[j] = argbot[a;j](ex[a]) for j < T*K
    h[j,f] = silu(sum[d](w1[ex[p[j]],f,d] * x[p[j]//K,d]))
    o[j,d] = sum[f](w2[ex[p[j]],d,f] * h[j,f])
    y[t,d] = sum[j where p[j]//K == t](g[p[j]//K,p[j]%K] * o[j,d])
    """
    return mixture(x, r, w1, w2)
