"""Absolute maxima a channel of the inputs of every linear layer, on training utterances and contexts.

    python calibrate.py FP32_MODEL_FOLDER TRAIN.txt OUT.npz        (the folder as export_int8.py --bits 32 makes it, with card and tokenizer)
"""
import random
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort

from understudy.agents.fit import build_context as context_of
from understudy.formats import examples
from understudy.language.encoding.encoder import SentenceEncoder

src=sys.argv[1]
m=onnx.load(src+'/encoder.int8.onnx')
want={}
for n in m.graph.node:
    if n.op_type=='MatMul' and n.name.endswith('.y'): want[n.name[:-2]]=n.input[0]
for v in set(want.values()): m.graph.output.append(onnx.helper.make_tensor_value_info(v,onnx.TensorProto.FLOAT,None))
e=SentenceEncoder(Path(src),cache=False)
ex=list(examples(Path(sys.argv[2]))); ex=random.Random(5).sample(ex,96)
seqs=e._sequencer.contexts([context_of(x.situation,x.history) for x in ex])+e._sequencer.texts([c for x in ex for c in x.candidates],'reply')+e._sequencer.texts([c for x in ex for c in x.situation.persona.profile],'own')
o=ort.SessionOptions(); o.graph_optimization_level=ort.GraphOptimizationLevel.ORT_ENABLE_BASIC; o.intra_op_num_threads=1
s=ort.InferenceSession(m.SerializeToString(),o,providers=['CPUExecutionProvider'])
names=sorted(set(want.values())); peak={}
for q in seqs:
    a=np.array([q]); r=s.run(names,{'ids':a,'mask':np.ones_like(a)})
    for n,x in zip(names,r): peak[n]=np.maximum(peak.get(n,0),np.abs(x).reshape(-1,x.shape[-1]).max(0))
np.savez(sys.argv[3],**{k:peak[v] for k,v in want.items()})
for k,v in want.items(): print(k, 'max/median', peak[v].max()/np.median(peak[v]))
