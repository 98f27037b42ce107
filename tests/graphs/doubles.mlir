#loc1 = /usr/lib/python3.11/site-packages/torch/nn/modules/linear.py:134:0
#loc2 = /usr/lib/python3.11/site-packages/torch/nn/modules/module.py:1786:0
#loc3 = /usr/lib/python3.11/site-packages/torch/nn/modules/module.py:1775:0
#loc4 = make_graphs.py:78:0
#loc5 = make_graphs.py:39:0
#loc6 = make_graphs.py:47:0
#loc7 = /usr/lib/python3.11/site-packages/torch/optim/sgd.py:375:0
#loc8 = /usr/lib/python3.11/site-packages/torch/optim/sgd.py:304:0
#loc9 = /usr/lib/python3.11/site-packages/torch/optim/sgd.py:127:0
#loc10 = /usr/lib/python3.11/site-packages/torch/optim/optimizer.py:82:0
#loc11 = /usr/lib/python3.11/site-packages/torch/optim/optimizer.py:517:0
#loc12 = make_graphs.py:41:0
#loc17 = "forward"(#loc1)
#loc18 = "_call_impl"(#loc2)
#loc19 = "_wrapped_call_impl"(#loc3)
#loc20 = "<lambda>"(#loc4)
#loc21 = "step"(#loc5)
#loc22 = "write"(#loc6)
#loc23 = "<module>"(#loc4)
#loc24 = "_single_tensor_sgd"(#loc7)
#loc25 = "sgd"(#loc8)
#loc26 = "step"(#loc9)
#loc27 = "_use_grad"(#loc10)
#loc28 = "wrapper"(#loc11)
#loc29 = "step"(#loc12)
#loc30 = #loc22
 at #loc23
#loc31 = #loc21
 at #loc30
#loc32 = #loc29
 at #loc30
#loc33 = #loc20
 at #loc31
#loc34 = #loc28
 at #loc32
#loc35 = #loc19
 at #loc33
#loc36 = #loc27
 at #loc34
#loc38 = #loc18
 at #loc35
#loc39 = #loc26
 at #loc36
#loc40 = #loc17
 at #loc38
#loc41 = #loc25
 at #loc39
#loc42 = "xla__device_data"(#loc40)
#loc43 = #loc24
 at #loc41
#loc46 = "xla__device_data"(#loc43)
module @IrToHlo.44 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<4xf64> "xla__device_data"(#loc40), %arg1: tensor<4x16xf64> "xla__device_data"(#loc40), %arg2: tensor<8x16xf64> "xla__device_data"(#loc40), %arg3: tensor<f64> "xla__device_data"(#loc43)) -> (tensor<f64>, tensor<4x16xf64>, tensor<4xf64>) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<8x4xf64> "aten__expand"
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64> [unknown]
    %0 = stablehlo.transpose %arg1, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f64[16,4]{0,1}"} : (tensor<4x16xf64>) -> tensor<16x4xf64> "aten__permute"(#loc40)
    %1 = stablehlo.dot_general %arg2, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf64>, tensor<16x4xf64>) -> tensor<8x4xf64> "aten__addmm"(#loc40)
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<4xf64>) -> tensor<8x4xf64> "aten__addmm"(#loc40)
    %3 = stablehlo.add %1, %2 : tensor<8x4xf64> "aten__addmm"(#loc40)
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf64>, tensor<f64>) -> tensor<f64> "aten__sum"(#loc33)
    %5 = stablehlo.transpose %arg2, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f64[16,8]{0,1}"} : (tensor<8x16xf64>) -> tensor<16x8xf64> "aten__permute"
    %6 = stablehlo.dot_general %5, %cst, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8xf64>, tensor<8x4xf64>) -> tensor<16x4xf64> "aten__mm"
    %7 = stablehlo.transpose %6, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f64[4,16]{0,1}"} : (tensor<16x4xf64>) -> tensor<4x16xf64> "aten__permute"
    %8 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f64>) -> tensor<4x16xf64> "aten__add.1/aten__add"(#loc43)
    %9 = stablehlo.multiply %7, %8 : tensor<4x16xf64> "aten__add.1/aten__add"(#loc43)
    %10 = stablehlo.add %arg1, %9 : tensor<4x16xf64> "aten__add.1/aten__add"(#loc43)
    %11 = stablehlo.reduce(%cst init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf64>, tensor<f64>) -> tensor<4xf64> "aten__sum"
    %12 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f64>) -> tensor<4xf64> "aten__add.2/aten__add"(#loc43)
    %13 = stablehlo.multiply %11, %12 : tensor<4xf64> "aten__add.2/aten__add"(#loc43)
    %14 = stablehlo.add %arg0, %13 : tensor<4xf64> "aten__add.2/aten__add"(#loc43)
    return %4, %10, %14 : tensor<f64>, tensor<4x16xf64>, tensor<4xf64> [unknown]
  } [unknown]
} [unknown]
#loc = [unknown]
#loc13 = "aten__expand"
#loc14 = "aten__permute"
#loc15 = "aten__mm"
#loc16 = "aten__sum"
#loc37 = "aten__sum"(#loc33)
#loc44 = "aten__permute"(#loc40)
#loc45 = "aten__addmm"(#loc40)
#loc47 = "aten__add.1/aten__add"(#loc43)
#loc48 = "aten__add.2/aten__add"(#loc43)
