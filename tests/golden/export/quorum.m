-- quorum, check n3_w2_r2; Node = 3; Term = 2; Offset = 1; write_quorum = 2; read_quorum = 2

type number: 0..3;

var
  term: 0..2;
  log_node1_len: 0..1;
  log_node1_0: 0..2;
  log_node2_len: 0..1;
  log_node2_0: 0..2;
  log_node3_len: 0..1;
  log_node3_0: 0..2;
  promised_node1: 0..2;
  promised_node2: 0..2;
  promised_node3: 0..2;
  up_node1: boolean;
  up_node2: boolean;
  up_node3: boolean;
  leads_node1: boolean;
  leads_node2: boolean;
  leads_node3: boolean;
  hw_node1: 0..1;
  hw_node2: 0..1;
  hw_node3: 0..1;
  committed_len: 0..1;
  committed_0: 0..2;

startstate "start 0" begin
  term := 0;
  log_node1_len := 0;
  log_node1_0 := 0;
  log_node2_len := 0;
  log_node2_0 := 0;
  log_node3_len := 0;
  log_node3_0 := 0;
  promised_node1 := 0;
  promised_node2 := 0;
  promised_node3 := 0;
  up_node1 := true;
  up_node2 := true;
  up_node3 := true;
  leads_node1 := false;
  leads_node2 := false;
  leads_node3 := false;
  hw_node1 := 0;
  hw_node2 := 0;
  hw_node3 := 0;
  committed_len := 0;
  committed_0 := 0;
end;

rule "elect({node1, node2}, node1)"
  up_node1 & up_node2 & !((((log_node1_len = 0) ? 0 : log_node1_0) < ((log_node2_len = 0) ? 0 : log_node2_0)) | ((((log_node1_len = 0) ? 0 : log_node1_0) = ((log_node2_len = 0) ? 0 : log_node2_0)) & (log_node1_len < log_node2_len))) & !((up_node1 & up_node2 & !((((log_node1_len = 0) ? 0 : log_node1_0) < ((log_node2_len = 0) ? 0 : log_node2_0)) | ((((log_node1_len = 0) ? 0 : log_node1_0) = ((log_node2_len = 0) ? 0 : log_node2_0)) & (log_node1_len < log_node2_len))) & (2 < (term + 1))) | (up_node1 & up_node2 & !((((log_node1_len = 0) ? 0 : log_node1_0) < ((log_node2_len = 0) ? 0 : log_node2_0)) | ((((log_node1_len = 0) ? 0 : log_node1_0) = ((log_node2_len = 0) ? 0 : log_node2_0)) & (log_node1_len < log_node2_len))) & !(up_node1 & up_node2 & !((((log_node1_len = 0) ? 0 : log_node1_0) < ((log_node2_len = 0) ? 0 : log_node2_0)) | ((((log_node1_len = 0) ? 0 : log_node1_0) = ((log_node2_len = 0) ? 0 : log_node2_0)) & (log_node1_len < log_node2_len))) & (2 < (term + 1))) & (2 < (term + 1))) | (up_node1 & up_node2 & !((((log_node1_len = 0) ? 0 : log_node1_0) < ((log_node2_len = 0) ? 0 : log_node2_0)) | ((((log_node1_len = 0) ? 0 : log_node1_0) = ((log_node2_len = 0) ? 0 : log_node2_0)) & (log_node1_len < log_node2_len))) & !((up_node1 & up_node2 & !((((log_node1_len = 0) ? 0 : log_node1_0) < ((log_node2_len = 0) ? 0 : log_node2_0)) | ((((log_node1_len = 0) ? 0 : log_node1_0) = ((log_node2_len = 0) ? 0 : log_node2_0)) & (log_node1_len < log_node2_len))) & (2 < (term + 1))) | (up_node1 & up_node2 & !((((log_node1_len = 0) ? 0 : log_node1_0) < ((log_node2_len = 0) ? 0 : log_node2_0)) | ((((log_node1_len = 0) ? 0 : log_node1_0) = ((log_node2_len = 0) ? 0 : log_node2_0)) & (log_node1_len < log_node2_len))) & !(up_node1 & up_node2 & !((((log_node1_len = 0) ? 0 : log_node1_0) < ((log_node2_len = 0) ? 0 : log_node2_0)) | ((((log_node1_len = 0) ? 0 : log_node1_0) = ((log_node2_len = 0) ? 0 : log_node2_0)) & (log_node1_len < log_node2_len))) & (2 < (term + 1))) & (2 < (term + 1)))) & (2 < (term + 1))))
==>
begin
  promised_node1 := term + 1;
  promised_node2 := term + 1;
  term := term + 1;
  leads_node1 := true;
  leads_node2 := false;
  hw_node1 := 0;
  hw_node2 := 0;
end;

rule "elect({node1, node2}, node2)"
  up_node1 & up_node2 & !((((log_node2_len = 0) ? 0 : log_node2_0) < ((log_node1_len = 0) ? 0 : log_node1_0)) | ((((log_node2_len = 0) ? 0 : log_node2_0) = ((log_node1_len = 0) ? 0 : log_node1_0)) & (log_node2_len < log_node1_len))) & !((up_node1 & up_node2 & !((((log_node2_len = 0) ? 0 : log_node2_0) < ((log_node1_len = 0) ? 0 : log_node1_0)) | ((((log_node2_len = 0) ? 0 : log_node2_0) = ((log_node1_len = 0) ? 0 : log_node1_0)) & (log_node2_len < log_node1_len))) & (2 < (term + 1))) | (up_node1 & up_node2 & !((((log_node2_len = 0) ? 0 : log_node2_0) < ((log_node1_len = 0) ? 0 : log_node1_0)) | ((((log_node2_len = 0) ? 0 : log_node2_0) = ((log_node1_len = 0) ? 0 : log_node1_0)) & (log_node2_len < log_node1_len))) & !(up_node1 & up_node2 & !((((log_node2_len = 0) ? 0 : log_node2_0) < ((log_node1_len = 0) ? 0 : log_node1_0)) | ((((log_node2_len = 0) ? 0 : log_node2_0) = ((log_node1_len = 0) ? 0 : log_node1_0)) & (log_node2_len < log_node1_len))) & (2 < (term + 1))) & (2 < (term + 1))) | (up_node1 & up_node2 & !((((log_node2_len = 0) ? 0 : log_node2_0) < ((log_node1_len = 0) ? 0 : log_node1_0)) | ((((log_node2_len = 0) ? 0 : log_node2_0) = ((log_node1_len = 0) ? 0 : log_node1_0)) & (log_node2_len < log_node1_len))) & !((up_node1 & up_node2 & !((((log_node2_len = 0) ? 0 : log_node2_0) < ((log_node1_len = 0) ? 0 : log_node1_0)) | ((((log_node2_len = 0) ? 0 : log_node2_0) = ((log_node1_len = 0) ? 0 : log_node1_0)) & (log_node2_len < log_node1_len))) & (2 < (term + 1))) | (up_node1 & up_node2 & !((((log_node2_len = 0) ? 0 : log_node2_0) < ((log_node1_len = 0) ? 0 : log_node1_0)) | ((((log_node2_len = 0) ? 0 : log_node2_0) = ((log_node1_len = 0) ? 0 : log_node1_0)) & (log_node2_len < log_node1_len))) & !(up_node1 & up_node2 & !((((log_node2_len = 0) ? 0 : log_node2_0) < ((log_node1_len = 0) ? 0 : log_node1_0)) | ((((log_node2_len = 0) ? 0 : log_node2_0) = ((log_node1_len = 0) ? 0 : log_node1_0)) & (log_node2_len < log_node1_len))) & (2 < (term + 1))) & (2 < (term + 1)))) & (2 < (term + 1))))
==>
begin
  promised_node1 := term + 1;
  promised_node2 := term + 1;
  term := term + 1;
  leads_node1 := false;
  leads_node2 := true;
  hw_node1 := 0;
  hw_node2 := 0;
end;

rule "elect({node1, node3}, node1)"
  up_node1 & up_node3 & !((((log_node1_len = 0) ? 0 : log_node1_0) < ((log_node3_len = 0) ? 0 : log_node3_0)) | ((((log_node1_len = 0) ? 0 : log_node1_0) = ((log_node3_len = 0) ? 0 : log_node3_0)) & (log_node1_len < log_node3_len))) & !((up_node1 & up_node3 & !((((log_node1_len = 0) ? 0 : log_node1_0) < ((log_node3_len = 0) ? 0 : log_node3_0)) | ((((log_node1_len = 0) ? 0 : log_node1_0) = ((log_node3_len = 0) ? 0 : log_node3_0)) & (log_node1_len < log_node3_len))) & (2 < (term + 1))) | (up_node1 & up_node3 & !((((log_node1_len = 0) ? 0 : log_node1_0) < ((log_node3_len = 0) ? 0 : log_node3_0)) | ((((log_node1_len = 0) ? 0 : log_node1_0) = ((log_node3_len = 0) ? 0 : log_node3_0)) & (log_node1_len < log_node3_len))) & !(up_node1 & up_node3 & !((((log_node1_len = 0) ? 0 : log_node1_0) < ((log_node3_len = 0) ? 0 : log_node3_0)) | ((((log_node1_len = 0) ? 0 : log_node1_0) = ((log_node3_len = 0) ? 0 : log_node3_0)) & (log_node1_len < log_node3_len))) & (2 < (term + 1))) & (2 < (term + 1))) | (up_node1 & up_node3 & !((((log_node1_len = 0) ? 0 : log_node1_0) < ((log_node3_len = 0) ? 0 : log_node3_0)) | ((((log_node1_len = 0) ? 0 : log_node1_0) = ((log_node3_len = 0) ? 0 : log_node3_0)) & (log_node1_len < log_node3_len))) & !((up_node1 & up_node3 & !((((log_node1_len = 0) ? 0 : log_node1_0) < ((log_node3_len = 0) ? 0 : log_node3_0)) | ((((log_node1_len = 0) ? 0 : log_node1_0) = ((log_node3_len = 0) ? 0 : log_node3_0)) & (log_node1_len < log_node3_len))) & (2 < (term + 1))) | (up_node1 & up_node3 & !((((log_node1_len = 0) ? 0 : log_node1_0) < ((log_node3_len = 0) ? 0 : log_node3_0)) | ((((log_node1_len = 0) ? 0 : log_node1_0) = ((log_node3_len = 0) ? 0 : log_node3_0)) & (log_node1_len < log_node3_len))) & !(up_node1 & up_node3 & !((((log_node1_len = 0) ? 0 : log_node1_0) < ((log_node3_len = 0) ? 0 : log_node3_0)) | ((((log_node1_len = 0) ? 0 : log_node1_0) = ((log_node3_len = 0) ? 0 : log_node3_0)) & (log_node1_len < log_node3_len))) & (2 < (term + 1))) & (2 < (term + 1)))) & (2 < (term + 1))))
==>
begin
  promised_node1 := term + 1;
  promised_node3 := term + 1;
  term := term + 1;
  leads_node1 := true;
  leads_node3 := false;
  hw_node1 := 0;
  hw_node3 := 0;
end;

rule "elect({node1, node3}, node3)"
  up_node1 & up_node3 & !((((log_node3_len = 0) ? 0 : log_node3_0) < ((log_node1_len = 0) ? 0 : log_node1_0)) | ((((log_node3_len = 0) ? 0 : log_node3_0) = ((log_node1_len = 0) ? 0 : log_node1_0)) & (log_node3_len < log_node1_len))) & !((up_node1 & up_node3 & !((((log_node3_len = 0) ? 0 : log_node3_0) < ((log_node1_len = 0) ? 0 : log_node1_0)) | ((((log_node3_len = 0) ? 0 : log_node3_0) = ((log_node1_len = 0) ? 0 : log_node1_0)) & (log_node3_len < log_node1_len))) & (2 < (term + 1))) | (up_node1 & up_node3 & !((((log_node3_len = 0) ? 0 : log_node3_0) < ((log_node1_len = 0) ? 0 : log_node1_0)) | ((((log_node3_len = 0) ? 0 : log_node3_0) = ((log_node1_len = 0) ? 0 : log_node1_0)) & (log_node3_len < log_node1_len))) & !(up_node1 & up_node3 & !((((log_node3_len = 0) ? 0 : log_node3_0) < ((log_node1_len = 0) ? 0 : log_node1_0)) | ((((log_node3_len = 0) ? 0 : log_node3_0) = ((log_node1_len = 0) ? 0 : log_node1_0)) & (log_node3_len < log_node1_len))) & (2 < (term + 1))) & (2 < (term + 1))) | (up_node1 & up_node3 & !((((log_node3_len = 0) ? 0 : log_node3_0) < ((log_node1_len = 0) ? 0 : log_node1_0)) | ((((log_node3_len = 0) ? 0 : log_node3_0) = ((log_node1_len = 0) ? 0 : log_node1_0)) & (log_node3_len < log_node1_len))) & !((up_node1 & up_node3 & !((((log_node3_len = 0) ? 0 : log_node3_0) < ((log_node1_len = 0) ? 0 : log_node1_0)) | ((((log_node3_len = 0) ? 0 : log_node3_0) = ((log_node1_len = 0) ? 0 : log_node1_0)) & (log_node3_len < log_node1_len))) & (2 < (term + 1))) | (up_node1 & up_node3 & !((((log_node3_len = 0) ? 0 : log_node3_0) < ((log_node1_len = 0) ? 0 : log_node1_0)) | ((((log_node3_len = 0) ? 0 : log_node3_0) = ((log_node1_len = 0) ? 0 : log_node1_0)) & (log_node3_len < log_node1_len))) & !(up_node1 & up_node3 & !((((log_node3_len = 0) ? 0 : log_node3_0) < ((log_node1_len = 0) ? 0 : log_node1_0)) | ((((log_node3_len = 0) ? 0 : log_node3_0) = ((log_node1_len = 0) ? 0 : log_node1_0)) & (log_node3_len < log_node1_len))) & (2 < (term + 1))) & (2 < (term + 1)))) & (2 < (term + 1))))
==>
begin
  promised_node1 := term + 1;
  promised_node3 := term + 1;
  term := term + 1;
  leads_node1 := false;
  leads_node3 := true;
  hw_node1 := 0;
  hw_node3 := 0;
end;

rule "elect({node2, node3}, node2)"
  up_node2 & up_node3 & !((((log_node2_len = 0) ? 0 : log_node2_0) < ((log_node3_len = 0) ? 0 : log_node3_0)) | ((((log_node2_len = 0) ? 0 : log_node2_0) = ((log_node3_len = 0) ? 0 : log_node3_0)) & (log_node2_len < log_node3_len))) & !((up_node2 & up_node3 & !((((log_node2_len = 0) ? 0 : log_node2_0) < ((log_node3_len = 0) ? 0 : log_node3_0)) | ((((log_node2_len = 0) ? 0 : log_node2_0) = ((log_node3_len = 0) ? 0 : log_node3_0)) & (log_node2_len < log_node3_len))) & (2 < (term + 1))) | (up_node2 & up_node3 & !((((log_node2_len = 0) ? 0 : log_node2_0) < ((log_node3_len = 0) ? 0 : log_node3_0)) | ((((log_node2_len = 0) ? 0 : log_node2_0) = ((log_node3_len = 0) ? 0 : log_node3_0)) & (log_node2_len < log_node3_len))) & !(up_node2 & up_node3 & !((((log_node2_len = 0) ? 0 : log_node2_0) < ((log_node3_len = 0) ? 0 : log_node3_0)) | ((((log_node2_len = 0) ? 0 : log_node2_0) = ((log_node3_len = 0) ? 0 : log_node3_0)) & (log_node2_len < log_node3_len))) & (2 < (term + 1))) & (2 < (term + 1))) | (up_node2 & up_node3 & !((((log_node2_len = 0) ? 0 : log_node2_0) < ((log_node3_len = 0) ? 0 : log_node3_0)) | ((((log_node2_len = 0) ? 0 : log_node2_0) = ((log_node3_len = 0) ? 0 : log_node3_0)) & (log_node2_len < log_node3_len))) & !((up_node2 & up_node3 & !((((log_node2_len = 0) ? 0 : log_node2_0) < ((log_node3_len = 0) ? 0 : log_node3_0)) | ((((log_node2_len = 0) ? 0 : log_node2_0) = ((log_node3_len = 0) ? 0 : log_node3_0)) & (log_node2_len < log_node3_len))) & (2 < (term + 1))) | (up_node2 & up_node3 & !((((log_node2_len = 0) ? 0 : log_node2_0) < ((log_node3_len = 0) ? 0 : log_node3_0)) | ((((log_node2_len = 0) ? 0 : log_node2_0) = ((log_node3_len = 0) ? 0 : log_node3_0)) & (log_node2_len < log_node3_len))) & !(up_node2 & up_node3 & !((((log_node2_len = 0) ? 0 : log_node2_0) < ((log_node3_len = 0) ? 0 : log_node3_0)) | ((((log_node2_len = 0) ? 0 : log_node2_0) = ((log_node3_len = 0) ? 0 : log_node3_0)) & (log_node2_len < log_node3_len))) & (2 < (term + 1))) & (2 < (term + 1)))) & (2 < (term + 1))))
==>
begin
  promised_node2 := term + 1;
  promised_node3 := term + 1;
  term := term + 1;
  leads_node2 := true;
  leads_node3 := false;
  hw_node2 := 0;
  hw_node3 := 0;
end;

rule "elect({node2, node3}, node3)"
  up_node2 & up_node3 & !((((log_node3_len = 0) ? 0 : log_node3_0) < ((log_node2_len = 0) ? 0 : log_node2_0)) | ((((log_node3_len = 0) ? 0 : log_node3_0) = ((log_node2_len = 0) ? 0 : log_node2_0)) & (log_node3_len < log_node2_len))) & !((up_node2 & up_node3 & !((((log_node3_len = 0) ? 0 : log_node3_0) < ((log_node2_len = 0) ? 0 : log_node2_0)) | ((((log_node3_len = 0) ? 0 : log_node3_0) = ((log_node2_len = 0) ? 0 : log_node2_0)) & (log_node3_len < log_node2_len))) & (2 < (term + 1))) | (up_node2 & up_node3 & !((((log_node3_len = 0) ? 0 : log_node3_0) < ((log_node2_len = 0) ? 0 : log_node2_0)) | ((((log_node3_len = 0) ? 0 : log_node3_0) = ((log_node2_len = 0) ? 0 : log_node2_0)) & (log_node3_len < log_node2_len))) & !(up_node2 & up_node3 & !((((log_node3_len = 0) ? 0 : log_node3_0) < ((log_node2_len = 0) ? 0 : log_node2_0)) | ((((log_node3_len = 0) ? 0 : log_node3_0) = ((log_node2_len = 0) ? 0 : log_node2_0)) & (log_node3_len < log_node2_len))) & (2 < (term + 1))) & (2 < (term + 1))) | (up_node2 & up_node3 & !((((log_node3_len = 0) ? 0 : log_node3_0) < ((log_node2_len = 0) ? 0 : log_node2_0)) | ((((log_node3_len = 0) ? 0 : log_node3_0) = ((log_node2_len = 0) ? 0 : log_node2_0)) & (log_node3_len < log_node2_len))) & !((up_node2 & up_node3 & !((((log_node3_len = 0) ? 0 : log_node3_0) < ((log_node2_len = 0) ? 0 : log_node2_0)) | ((((log_node3_len = 0) ? 0 : log_node3_0) = ((log_node2_len = 0) ? 0 : log_node2_0)) & (log_node3_len < log_node2_len))) & (2 < (term + 1))) | (up_node2 & up_node3 & !((((log_node3_len = 0) ? 0 : log_node3_0) < ((log_node2_len = 0) ? 0 : log_node2_0)) | ((((log_node3_len = 0) ? 0 : log_node3_0) = ((log_node2_len = 0) ? 0 : log_node2_0)) & (log_node3_len < log_node2_len))) & !(up_node2 & up_node3 & !((((log_node3_len = 0) ? 0 : log_node3_0) < ((log_node2_len = 0) ? 0 : log_node2_0)) | ((((log_node3_len = 0) ? 0 : log_node3_0) = ((log_node2_len = 0) ? 0 : log_node2_0)) & (log_node3_len < log_node2_len))) & (2 < (term + 1))) & (2 < (term + 1)))) & (2 < (term + 1))))
==>
begin
  promised_node2 := term + 1;
  promised_node3 := term + 1;
  term := term + 1;
  leads_node2 := false;
  leads_node3 := true;
  hw_node2 := 0;
  hw_node3 := 0;
end;

rule "write(node1)"
  up_node1 & leads_node1 & !(up_node1 & leads_node1 & (1 < (log_node1_len + 1)))
==>
begin
  log_node1_0 := ((log_node1_len = 0) ? promised_node1 : log_node1_0);
  log_node1_len := log_node1_len + 1;
end;

rule "write(node2)"
  up_node2 & leads_node2 & !(up_node2 & leads_node2 & (1 < (log_node2_len + 1)))
==>
begin
  log_node2_0 := ((log_node2_len = 0) ? promised_node2 : log_node2_0);
  log_node2_len := log_node2_len + 1;
end;

rule "write(node3)"
  up_node3 & leads_node3 & !(up_node3 & leads_node3 & (1 < (log_node3_len + 1)))
==>
begin
  log_node3_0 := ((log_node3_len = 0) ? promised_node3 : log_node3_0);
  log_node3_len := log_node3_len + 1;
end;

rule "replicate(node1, node2)"
  up_node1 & leads_node1 & up_node2 & (promised_node2 <= promised_node1) & !((log_node2_len = log_node1_len) & (log_node2_0 = log_node1_0))
==>
begin
  log_node2_len := log_node1_len;
  log_node2_0 := log_node1_0;
  promised_node2 := promised_node1;
  leads_node2 := false;
  hw_node2 := 0;
end;

rule "replicate(node1, node3)"
  up_node1 & leads_node1 & up_node3 & (promised_node3 <= promised_node1) & !((log_node3_len = log_node1_len) & (log_node3_0 = log_node1_0))
==>
begin
  log_node3_len := log_node1_len;
  log_node3_0 := log_node1_0;
  promised_node3 := promised_node1;
  leads_node3 := false;
  hw_node3 := 0;
end;

rule "replicate(node2, node1)"
  up_node2 & leads_node2 & up_node1 & (promised_node1 <= promised_node2) & !((log_node1_len = log_node2_len) & (log_node1_0 = log_node2_0))
==>
begin
  log_node1_len := log_node2_len;
  log_node1_0 := log_node2_0;
  promised_node1 := promised_node2;
  leads_node1 := false;
  hw_node1 := 0;
end;

rule "replicate(node2, node3)"
  up_node2 & leads_node2 & up_node3 & (promised_node3 <= promised_node2) & !((log_node3_len = log_node2_len) & (log_node3_0 = log_node2_0))
==>
begin
  log_node3_len := log_node2_len;
  log_node3_0 := log_node2_0;
  promised_node3 := promised_node2;
  leads_node3 := false;
  hw_node3 := 0;
end;

rule "replicate(node3, node1)"
  up_node3 & leads_node3 & up_node1 & (promised_node1 <= promised_node3) & !((log_node1_len = log_node3_len) & (log_node1_0 = log_node3_0))
==>
begin
  log_node1_len := log_node3_len;
  log_node1_0 := log_node3_0;
  promised_node1 := promised_node3;
  leads_node1 := false;
  hw_node1 := 0;
end;

rule "replicate(node3, node2)"
  up_node3 & leads_node3 & up_node2 & (promised_node2 <= promised_node3) & !((log_node2_len = log_node3_len) & (log_node2_0 = log_node3_0))
==>
begin
  log_node2_len := log_node3_len;
  log_node2_0 := log_node3_0;
  promised_node2 := promised_node3;
  leads_node2 := false;
  hw_node2 := 0;
end;

rule "commit(node1, 1)"
  (up_node1 & leads_node1 & (hw_node1 < 1) & (1 <= log_node1_len) & (log_node1_0 = promised_node1) & (2 <= (((((promised_node2 = promised_node1) & (log_node1_len <= log_node2_len) & ((log_node1_len <= 0) | (log_node2_0 = log_node1_0))) ? 1 : 0) + 1) + (((promised_node3 = promised_node1) & (log_node1_len <= log_node3_len) & ((log_node1_len <= 0) | (log_node3_0 = log_node1_0))) ? 1 : 0))) & !(up_node1 & leads_node1 & (hw_node1 < 1) & (1 <= log_node1_len) & (log_node1_len <= 0))) | (up_node1 & leads_node1 & (hw_node1 < 1) & (1 <= log_node1_len) & (log_node1_len <= 0))
==>
begin
  assert "an error of the model" !(up_node1 & leads_node1 & (hw_node1 < 1) & (1 <= log_node1_len) & (log_node1_len <= 0));
  hw_node1 := 1;
  committed_0 := ((committed_len < 1) ? log_node1_0 : committed_0);
  committed_len := ((committed_len < 1) ? log_node1_len : committed_len);
end;

rule "commit(node2, 1)"
  (up_node2 & leads_node2 & (hw_node2 < 1) & (1 <= log_node2_len) & (log_node2_0 = promised_node2) & (2 <= (((((promised_node1 = promised_node2) & (log_node2_len <= log_node1_len) & ((log_node2_len <= 0) | (log_node1_0 = log_node2_0))) ? 1 : 0) + 1) + (((promised_node3 = promised_node2) & (log_node2_len <= log_node3_len) & ((log_node2_len <= 0) | (log_node3_0 = log_node2_0))) ? 1 : 0))) & !(up_node2 & leads_node2 & (hw_node2 < 1) & (1 <= log_node2_len) & (log_node2_len <= 0))) | (up_node2 & leads_node2 & (hw_node2 < 1) & (1 <= log_node2_len) & (log_node2_len <= 0))
==>
begin
  assert "an error of the model" !(up_node2 & leads_node2 & (hw_node2 < 1) & (1 <= log_node2_len) & (log_node2_len <= 0));
  hw_node2 := 1;
  committed_0 := ((committed_len < 1) ? log_node2_0 : committed_0);
  committed_len := ((committed_len < 1) ? log_node2_len : committed_len);
end;

rule "commit(node3, 1)"
  (up_node3 & leads_node3 & (hw_node3 < 1) & (1 <= log_node3_len) & (log_node3_0 = promised_node3) & (1 <= ((((promised_node1 = promised_node3) & (log_node3_len <= log_node1_len) & ((log_node3_len <= 0) | (log_node1_0 = log_node3_0))) ? 1 : 0) + (((promised_node2 = promised_node3) & (log_node3_len <= log_node2_len) & ((log_node3_len <= 0) | (log_node2_0 = log_node3_0))) ? 1 : 0))) & !(up_node3 & leads_node3 & (hw_node3 < 1) & (1 <= log_node3_len) & (log_node3_len <= 0))) | (up_node3 & leads_node3 & (hw_node3 < 1) & (1 <= log_node3_len) & (log_node3_len <= 0))
==>
begin
  assert "an error of the model" !(up_node3 & leads_node3 & (hw_node3 < 1) & (1 <= log_node3_len) & (log_node3_len <= 0));
  hw_node3 := 1;
  committed_0 := ((committed_len < 1) ? log_node3_0 : committed_0);
  committed_len := ((committed_len < 1) ? log_node3_len : committed_len);
end;

rule "restart(node1)"
  !up_node1
==>
begin
  up_node1 := true;
end;

rule "restart(node2)"
  !up_node2
==>
begin
  up_node2 := true;
end;

rule "restart(node3)"
  !up_node3
==>
begin
  up_node3 := true;
end;

invariant "committed_survives"
  (!(leads_node1 & (promised_node1 = term)) | ((committed_len <= log_node1_len) & ((committed_len <= 0) | (log_node1_0 = committed_0)))) & (!(leads_node2 & (promised_node2 = term)) | ((committed_len <= log_node2_len) & ((committed_len <= 0) | (log_node2_0 = committed_0)))) & (!(leads_node3 & (promised_node3 = term)) | ((committed_len <= log_node3_len) & ((committed_len <= 0) | (log_node3_0 = committed_0))));

invariant "electable"
  (up_node1 & up_node2 & !((((log_node1_len = 0) ? 0 : log_node1_0) < ((log_node2_len = 0) ? 0 : log_node2_0)) | ((((log_node1_len = 0) ? 0 : log_node1_0) = ((log_node2_len = 0) ? 0 : log_node2_0)) & (log_node1_len < log_node2_len)))) | (up_node1 & up_node2 & !((((log_node2_len = 0) ? 0 : log_node2_0) < ((log_node1_len = 0) ? 0 : log_node1_0)) | ((((log_node2_len = 0) ? 0 : log_node2_0) = ((log_node1_len = 0) ? 0 : log_node1_0)) & (log_node2_len < log_node1_len)))) | (up_node1 & up_node3 & !((((log_node1_len = 0) ? 0 : log_node1_0) < ((log_node3_len = 0) ? 0 : log_node3_0)) | ((((log_node1_len = 0) ? 0 : log_node1_0) = ((log_node3_len = 0) ? 0 : log_node3_0)) & (log_node1_len < log_node3_len)))) | (up_node1 & up_node3 & !((((log_node3_len = 0) ? 0 : log_node3_0) < ((log_node1_len = 0) ? 0 : log_node1_0)) | ((((log_node3_len = 0) ? 0 : log_node3_0) = ((log_node1_len = 0) ? 0 : log_node1_0)) & (log_node3_len < log_node1_len)))) | (up_node2 & up_node3 & !((((log_node2_len = 0) ? 0 : log_node2_0) < ((log_node3_len = 0) ? 0 : log_node3_0)) | ((((log_node2_len = 0) ? 0 : log_node2_0) = ((log_node3_len = 0) ? 0 : log_node3_0)) & (log_node2_len < log_node3_len)))) | (up_node2 & up_node3 & !((((log_node3_len = 0) ? 0 : log_node3_0) < ((log_node2_len = 0) ? 0 : log_node2_0)) | ((((log_node3_len = 0) ? 0 : log_node3_0) = ((log_node2_len = 0) ? 0 : log_node2_0)) & (log_node3_len < log_node2_len))));
